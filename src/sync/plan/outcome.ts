import {
  fateOf,
  isAskedFor,
  type AbsentFile,
  type Fate,
  type RemovalMode,
  type Absence,
  type FileRecord,
} from '../../domain/record.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import { fileKey } from '../../domain/key.ts';
import type { FileEvent, Summary } from '../../domain/report.ts';
import type { Source } from '../sources/source.ts';
import type { PlanItem, PlannedSend } from './plan-item.ts';

/** What an item of a plan comes to: what a pass does and reports, a dry run reports, and `explain` puts into words. */
export interface ItemOutcome {
  /** Where the summary counts it. */
  readonly counts: Exclude<keyof Summary, 'unconfirmed' | 'bytes' | 'durationMs'> | null;
  readonly event: Pick<FileEvent, 'kind' | 'path' | 'key' | 'reason' | 'error'> | null;
  /** Of a file that the platform does not have as it is: a removed one that looks like it may be the same, renamed. */
  readonly unsent: Fingerprint | null;
  /** What the record says of its file's absence from now on; `undefined`: what it said before. */
  readonly absence: Absence | null | undefined;
  /** What becomes on the platform of a file that is not there. */
  readonly fate: Fate | null;
}

/** What the state file knows of a file beyond its plan. */
export type KnownFile = AbsentFile & { readonly failure: string | null };

const REPLACED =
  'somebody else replaced it on the platform, and that file is left alone; change the file, or send it with --force';

const NOTHING: ItemOutcome = { counts: null, event: null, unsent: null, absence: undefined, fate: null };
const UNCHANGED: ItemOutcome = { ...NOTHING, counts: 'unchanged', absence: null };

/**
 * What an item that sends nothing comes to.
 *
 * @param known - of the record of one that is held or absent; `null`: the record is gone in the meantime.
 */
export function outcomeOf(
  item: Exclude<PlanItem, PlannedSend>,
  known: KnownFile | null,
  removals: RemovalMode,
): ItemOutcome {
  switch (item.kind) {
    case 'tick':
      return NOTHING;
    case 'unchanged':
      return UNCHANGED;
    case 'hold': {
      const { path, key, record } = item;
      if (record.differs === 'replaced') return replaced(path, key, record.fingerprint);
      const held = { ...NOTHING, unsent: record.fingerprint, absence: null };
      // It was reported when it failed, and that it is to be retried is no news.
      if (record.state === 'failed') return { ...held, counts: 'failed' };
      const failure = known?.failure ?? 'unknown';
      if (record.state === 'synced') {
        // The platform has it, and the bot will not find it.
        const event = { kind: 'confirm', path, key, reason: failure, error: failure } as const;
        return { ...held, unsent: null, counts: 'failed', event };
      }
      const reason = `refused before: ${failure}`;
      return { ...held, counts: 'refused', event: { kind: 'refuse', path, key, reason } };
    }
    case 'refuse':
    case 'problem': {
      const { kind, path, key, reason, fingerprint = null } = item;
      const counts = kind === 'refuse' ? 'refused' : 'problems';
      return { ...NOTHING, counts, event: { kind, path, key, reason }, unsent: fingerprint };
    }
    case 'skip':
      return { ...passedOver(item, item.key), absence: 'kept' };
    case 'pass-over':
      return passedOver(item, null);
    case 'absent':
      return outcomeOfAbsent(item.absence, known, removals);
  }
}

function outcomeOfAbsent(
  absence: Absence | null,
  known: KnownFile | null,
  removals: RemovalMode,
): ItemOutcome {
  const fate = known === null ? 'unknown' : fateOf(known, absence, removals);
  // What could not be seen is reported as a problem, and is neither kept nor removed.
  if (fate === 'unknown') return { ...NOTHING, fate };
  if (fate === 'keep') return { ...NOTHING, counts: 'kept', absence: 'kept', fate };
  // Who asked for a removal is remembered until it is done.
  if (fate === 'remove' && isAskedFor(known?.absence ?? null)) return { ...NOTHING, fate };
  return { ...NOTHING, absence, fate };
}

/**
 * What a file that may have to be sent comes to, when nothing goes wrong.
 *
 * @param isSame - whether it has the content on record after all, or the one that the platform has.
 * @param unreadable - why it cannot be read.
 */
export function outcomeOfSend(item: PlannedSend, isSame: boolean, unreadable: string | null): ItemOutcome {
  const { path, key, fingerprint, record } = item;
  if (isSame && item.found === null)
    return record?.differs === 'replaced' ? replaced(path, key, fingerprint) : UNCHANGED;
  if (unreadable !== null) {
    const event = { kind: 'problem', path, key, reason: unreadable } as const;
    return { ...NOTHING, counts: 'problems', event, unsent: fingerprint, absence: null };
  }
  const { kind, counts, reason } = isSame ? ADOPTED : kindOfSend(item);
  return { ...NOTHING, counts, event: { kind, path, key, reason }, absence: null };
}

/** A file as it was sent, in whose place on the platform is somebody else's. */
function replaced(path: string, key: string, unsent: Fingerprint): ItemOutcome {
  const event = { kind: 'problem', path, key, reason: REPLACED } as const;
  return { ...NOTHING, counts: 'problems', event, unsent, absence: null };
}

/** As what the sending of a file is reported, and counted when it succeeds. */
export function kindOfSend({ kind, reason, isInPlace, record }: PlannedSend) {
  if (reason === 'renewal-due') return { kind: 'renew', counts: 'renewed', reason } as const;
  if (isInPlace) return { kind: 'update', counts: 'updated', reason } as const;
  const changed = record === null ? 'new' : 'changed';
  return { kind: 'upload', counts: 'uploaded', reason: kind === 'verify' ? changed : reason } as const;
}

/** As what a file is reported, and counted, that the platform has already though nothing was on record of it. */
export const ADOPTED = { kind: 'adopt', counts: 'adopted', reason: 'on the platform already' } as const;

function passedOver({ path, reason }: { path: string; reason: string }, key: string | null): ItemOutcome {
  return { ...NOTHING, counts: 'skipped', event: { kind: 'skip', path, key, reason } };
}

/** Why a file is removed, as it is reported. */
export function whyRemoved({ config }: Source, { path, key, absence }: FileRecord): string {
  if (isAskedFor(absence)) return absence;
  return fileKey(config.keyPrefix, path) === key ? 'removed' : 'key-changed';
}
