import type { Config } from '../../config/config.ts';
import type { Halt } from '../../domain/guard.ts';
import { scan, type ScanEntry } from '../../files/scan.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { checkRoot } from './root-check.ts';
import type { Source } from './source.ts';

/** A source whose directory can be what it was, ready to be walked; or why nothing is done for it. */
export type EnteredSource =
  /** `approved`: what would have halted it, had nobody checked it. */
  | { readonly kind: 'open'; readonly entries: Iterable<ScanEntry>; readonly approved: readonly Halt[] }
  | { readonly kind: 'halted'; readonly halt: Halt };

/** What an emptied directory may still show. */
const EMPTY = new Set<ScanEntry['kind']>(['tick', 'skip', 'problem']);

/** Returns whether an entry is one that a directory without files may show. */
export function isEmptySign(kind: ScanEntry['kind']): boolean {
  return EMPTY.has(kind);
}

/**
 * Begins a scan of a whole source, and checks that its directory can be what it was last time (see `checkRoot`). Yields
 * `null` now and then, for the caller to let others run: before the first file there may be a million names to put in order.
 *
 * @param isAllowed - whether someone has checked a halt and lets it through.
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

/** Looks ahead to the first file, so that an emptied source is known before its records are gone through. */
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
    // A consumer of the generator that stops early leaves a directory half listed.
    if (!isBegun) entries.return(undefined);
  }
  return { kind: 'open', isEmpty, entries: chain(ahead, entries) };
}

function* chain(first: Iterable<ScanEntry>, then: Iterable<ScanEntry>): Generator<ScanEntry, void> {
  yield* first;
  yield* then;
}
