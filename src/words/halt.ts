import type { HindranceStatus } from '../domain/cluster-status.ts';
import {
  HALT_TRAITS,
  type DirectoryFault,
  type Halt,
  type NearestDirectory,
  type RemovalExcess,
} from '../domain/guard.ts';
import type { Hindrance, Unseen } from '../domain/hindrance.ts';
import type { FileEvent } from '../domain/report.ts';
import { countText } from '../service/amounts.ts';

/** A halt of a source. `howToApprove`: the command that approves it. */
export interface HaltFacts {
  readonly source: string;
  readonly halt: Halt;
  readonly howToApprove: string;
}

/** Returns why a source is halted: a sentence without its full stop. */
export function describeHalt(halt: Halt): string {
  switch (halt.kind) {
    case 'missing':
      return describeFault(halt.directory, halt.fault);
    case 'emptied':
      return `${halt.directory} has no files, although files of it were recorded`;
    case 'replaced': {
      const { directory, isKnown, found, checked } = halt;
      return isKnown
        ? `${directory} is not the same directory as before, and contains ${found} of ${checked} recorded files checked`
        : `${directory} was not checked before on this host, and contains ${found} of ${checked} recorded files checked`;
    }
    case 'mounts-changed':
      return describeMounts(halt);
    case 'new-keys': {
      const changes = halt.changes.map(
        ({ field, before, now }) => `${field} ${before || '""'} → ${now || '""'}`,
      );
      return `${halt.atStake.count} of ${halt.recorded} files would get new keys (${changes.join(', ')})`;
    }
    case 'mass-removal':
      return describeRemovals(halt.excess);
  }
}

/** Returns why a guard rejects removals: a sentence without its full stop. */
export function describeRemovals(excess: RemovalExcess): string {
  if (excess.kind === 'hidden')
    return `${countText(excess.orphans, 'orphan')} may be hidden: their directories have no files now, or a file system was mounted or unmounted there`;
  const { kind, wanted, recent, recorded, limit } = excess;
  const counted =
    recent === 0
      ? `${wanted} of ${recorded} files would be removed within an hour`
      : `${recent} of ${recorded} files were removed within an hour, and ${wanted} more would be`;
  return kind === 'count'
    ? `${counted}, more than removals.maxCount (${limit})`
    : `${counted}, more than removals.maxFraction (${limit})`;
}

/** Returns a halt as an event of its source, with the path `.`, for JSON output and the log. */
export function haltAsFileEvent({ source, halt, howToApprove }: HaltFacts): FileEvent {
  const reason = `halted: ${haltNotice(halt, howToApprove)}`;
  return { kind: 'problem', source, path: '.', key: null, reason };
}

/**
 * Returns a halt for messages: the reason, the consequence and the fix.
 *
 * @param howToApprove - the command that approves it.
 */
export function haltNotice(halt: Halt, howToApprove: string): string {
  const fix = !HALT_TRAITS[halt.kind].isApprovable ? '' : `; if that is right, ${howToApprove}`;
  return `${describeHalt(halt)}; ${UNDONE[halt.kind]}${fix}`;
}

const UNDONE: Readonly<Record<Halt['kind'], string>> = {
  missing: 'nothing was removed',
  replaced: 'nothing was removed',
  emptied: 'nothing was removed',
  'mounts-changed': 'nothing was removed',
  'new-keys': 'nothing was sent or removed',
  'mass-removal': 'none of these was removed',
};

/** Returns a hindrance in the form of status output. */
export function hindranceStatus(hindrance: Hindrance): HindranceStatus {
  if (hindrance.kind === 'differing') return hindrance;
  const { halt } = hindrance;
  const kind = halt.kind === 'no-files' ? 'empty' : halt.kind;
  return { ...hindrance, halt: kind, reason: describeUnseen(halt) };
}

/** Returns why a host does not see the files of a source: a sentence without its full stop. */
export function describeUnseen(halt: Unseen['halt']): string {
  return halt.kind === 'no-files' ? `${halt.directory} has no files` : describeHalt(halt);
}

/** Returns what exists in place of a missing directory. */
export function describeNearest({ kind, path }: NearestDirectory): string {
  return kind === 'meant' ? `did you mean ${path}?` : `the nearest directory that exists is ${path}`;
}

function describeFault(directory: string, fault: DirectoryFault): string {
  switch (fault.kind) {
    case 'not-a-directory':
      return `${directory} is not a directory (${fault.field})`;
    case 'not-found':
      return `${directory} does not exist (${fault.field}; ${describeNearest(fault.nearest)})`;
    case 'unreadable':
      return `${directory} cannot be read: ${fault.code} (${fault.field})`;
    case 'unlistable':
      return `${directory} cannot be listed: ${fault.code}`;
    case 'silent':
      return `${directory} does not answer`;
    case 'lost-during-scan':
      return `${directory} was unmounted, removed or replaced during the scan`;
    case 'ignore-file-too-large':
      return `${directory}/${fault.file} is larger than ${fault.maxBytes} bytes`;
    case 'ignore-pattern':
      return `${directory}/${fault.file}: line ${fault.line} ${fault.problem}`;
  }
}

function describeMounts({ directory, mounts }: Extract<Halt, { kind: 'mounts-changed' }>): string {
  const describe = (words: string, isMounted: boolean): string[] => {
    const places = mounts.flatMap((one) =>
      one.isMounted === isMounted ? [`${directory}/${one.place}`] : [],
    );
    return places.length === 0 ? [] : [`${words}${places.join(', ')}`];
  };
  return [
    ...describe('no longer mounted: ', false),
    ...describe('newly mounted over files of the source: ', true),
  ].join('; ');
}
