import type { Halt } from '../domain/guard.ts';
import { scan, type ScanEntry } from '../scan/scan.ts';
import type { WalkContext } from './engine.ts';
import { checkRoot } from './root-check.ts';
import type { Source } from './source.ts';
import { walk } from './walk.ts';
import type { Workers } from './workers.ts';

/** How the walk over a source ended. Removals need a complete one: what was not seen may still be there. */
export type Walk =
  | { readonly kind: 'halted'; readonly halt: Halt }
  | { readonly kind: 'complete' }
  | { readonly kind: 'incomplete' };

/** Checks a source's directory and walks all of it. Sends may still run when it ends. */
export async function syncSource(
  source: Source,
  context: WalkContext,
  workers: Workers,
  isForced: (path: string) => boolean,
  allowHalted: boolean,
): Promise<Walk> {
  const { state, standings, config } = context;
  const name = source.config.name;
  const target = state.targetId(source.syncTarget);
  const begun = beginScan(source);
  const halt =
    begun.kind === 'halted'
      ? begun.halt
      : allowHalted
        ? null
        : checkRoot(source, target, state, begun.isEmpty, config.removals.mode);
  if (halt !== null || begun.kind === 'halted') return { kind: 'halted', halt: halt as Halt };
  // From here on single files may be looked at as well.
  if (standings.get(name) !== 'complete') standings.set(name, 'incomplete');
  const stretch = { source, target, entries: begun.entries, records: state.records(target, name) };
  const isComplete = await walk(stretch, context, workers, isForced);
  return { kind: isComplete ? 'complete' : 'incomplete' };
}

/** A scan that has begun, or why it cannot. */
export type BegunScan =
  | { readonly kind: 'begun'; readonly isEmpty: boolean; readonly entries: Iterable<ScanEntry> }
  | { readonly kind: 'halted'; readonly halt: Halt };

/** What an emptied directory may still show. */
const EMPTY = new Set<ScanEntry['kind']>(['tick', 'skip', 'problem']);

/** Looks ahead to the first file, so that an emptied source is known before its records are gone through. */
export function beginScan(source: Source): BegunScan {
  const entries = scan(source);
  const ahead: ScanEntry[] = [];
  let isEmpty = true;
  try {
    for (let step = entries.next(); isEmpty && step.done !== true; step = isEmpty ? entries.next() : step) {
      ahead.push(step.value);
      isEmpty = EMPTY.has(step.value.kind);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { kind: 'halted', halt: { kind: 'missing', reason: `${source.root} cannot be listed: ${code}` } };
  }
  return { kind: 'begun', isEmpty, entries: chain(ahead, entries) };
}

function* chain(first: Iterable<ScanEntry>, then: Iterable<ScanEntry>): Generator<ScanEntry, void> {
  yield* first;
  yield* then;
}
