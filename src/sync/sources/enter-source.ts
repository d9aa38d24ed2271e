import type { Config } from '../../config/config.ts';
import type { Halt } from '../../domain/guard.ts';
import { scan, type ScanEntry } from '../../files/scan.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { checkRoot, checkDirectory } from './root-check.ts';
import type { Source } from './source.ts';
import type { RemovalMode } from '../../domain/record.ts';
import { isUnseen, type UnseenHalt } from '../../domain/hindrance.ts';
import { isFound } from './presence.ts';

/** A source that is ready to be walked, or the halt that prevents it. */
export type EnteredSource =
  /** `approved`: the approved causes of a halt. */
  | { readonly kind: 'open'; readonly entries: Iterable<ScanEntry>; readonly approved: readonly Halt[] }
  | { readonly kind: 'halted'; readonly halt: Halt };

/** Entries that a directory without files may have. */
const EMPTY = new Set<ScanEntry['kind']>(['tick', 'skip', 'problem']);

/** Returns whether a directory without files may have such an entry. */
function isEmptySign(kind: ScanEntry['kind']): boolean {
  return EMPTY.has(kind);
}

/**
 * Begins a scan of a whole source, and checks that its directory may be the one of the last pass (see `checkRoot`).
 * Yields `null` regularly, so that the caller can let other work run: a million names may have to be sorted before the
 * first file.
 *
 * @param isAllowed - returns whether a halt was approved.
 */
export function* enterSource(
  source: Source,
  target: number,
  state: StateReader,
  removals: Config['removals']['mode'],
  isAllowed: (halt: Halt) => boolean,
): Generator<null, EnteredSource> {
  const begun = yield* beginScan(source);
  if (begun.kind === 'halted') return begun;
  const halts = checkRoot(source, target, state, begun.isEmpty, removals);
  const halt = halts.find((one) => !isAllowed(one));
  if (halt !== undefined) return { kind: 'halted', halt };
  return { kind: 'open', entries: begun.entries, approved: halts };
}

type BegunScan =
  | { readonly kind: 'open'; readonly isEmpty: boolean; readonly entries: Iterable<ScanEntry> }
  | { readonly kind: 'halted'; readonly halt: Halt };

/** Scans up to the first file, so that an emptied source is found before its records are read. */
function* beginScan(source: Source): Generator<null, BegunScan> {
  const entries = scan(source);
  const ahead: ScanEntry[] = [];
  let isEmpty = true;
  let isBegun = false;
  try {
    for (let step = entries.next(); isEmpty && step.done !== true; step = isEmpty ? entries.next() : step) {
      ahead.push(step.value);
      isEmpty = isEmptySign(step.value.kind);
      if (step.value.kind === 'tick') yield null;
    }
    isBegun = true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return {
      kind: 'halted',
      halt: { kind: 'missing', directory: source.root, fault: { kind: 'unlistable', code } },
    };
  } finally {
    // If the caller stops early, a directory is still open.
    if (!isBegun) entries.return(undefined);
  }
  return { kind: 'open', isEmpty, entries: chain(ahead, entries) };
}

function* chain(first: Iterable<ScanEntry>, then: Iterable<ScanEntry>): Generator<ScanEntry, void> {
  yield* first;
  yield* then;
}

/**
 * The state of a source's directory at a quick check. Results for one directory are valid for another with an equal
 * sight.
 */
export interface Sight {
  readonly isEmpty: boolean;
  readonly identity: string;
  readonly mounts: readonly string[];
}

/** Checks a directory, up to its first file. Throws errors of the file system. */
export function lookAtDirectory(source: Source): Sight {
  const { identity, mounts } = source;
  for (const { kind } of scan(source)) if (!isEmptySign(kind)) return { isEmpty: false, identity, mounts };
  return { isEmpty: true, identity, mounts };
}

/** Returns the recorded halt of a source, as long as its cause remains. */
export function haltThatStands(source: Source, { isEmpty }: Sight, state: StateReader): UnseenHalt | null {
  const halt = state.source(source.config.name)?.halt ?? null;
  if (halt === null || halt.kind === 'missing' || !isUnseen(halt)) return null;
  if (halt.kind === 'emptied') return isEmpty ? halt : null;
  return halt.atStake.first.some((path) => isFound(source, path)) ? null : halt;
}

/** Returns the halt that this host's view of the directory would cause. `state` may have only some of the records. */
export function haltAtSight(
  source: Source,
  { isEmpty }: Sight,
  state: StateReader,
  removals: RemovalMode,
): UnseenHalt | null {
  const target = state.targetId(source.syncTarget);
  return checkDirectory(source, target, state, isEmpty, removals).find(isUnseen) ?? null;
}
