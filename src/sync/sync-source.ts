import type { Halt } from '../domain/guard.ts';
import { scan, type ScanEntry } from '../scan/scan.ts';
import { carryOut } from './carry-out.ts';
import { noteItem } from './note-item.ts';
import type { PassContext } from './pass-context.ts';
import { isPlannedSend, planSource, type PlanPorts } from './plan-source.ts';
import { checkRoot } from './root-check.ts';
import type { Source } from './source.ts';
import { Turns } from './turns.ts';
import type { Workers } from './workers.ts';

/** How the walk over a source ended. Removals need a complete one: what was not seen may still be there. */
export type Walk =
  | { readonly kind: 'halted'; readonly halt: Halt }
  | { readonly kind: 'complete' }
  | { readonly kind: 'incomplete' };

/** Walks one source, hands what is to be sent to the workers, and takes note of all else. Sends may still run when it ends. */
export async function syncSource(
  source: Source,
  context: PassContext,
  workers: Workers,
  isForced: (path: string) => boolean,
  allowHalted: boolean,
): Promise<Walk> {
  const { state, config, platform, stop, clock } = context;
  const name = source.config.name;
  const target = state.targetId(source.syncTarget);
  const begun = beginScan(source);
  const halt =
    begun.kind === 'halted'
      ? begun.halt
      : allowHalted
        ? null
        : checkRoot(source, target, state, begun.isEmpty);
  if (halt !== null || begun.kind === 'halted') return { kind: 'halted', halt: halt as Halt };

  const ports: PlanPorts = {
    target,
    claims: context.claims,
    limits: config.limits,
    now: () => platform.now(),
    wallClock: clock.now,
    isForced,
  };
  let complete = true;
  const turns = new Turns(clock);
  for (const item of planSource(source, begun.entries, state.records(target, name), ports)) {
    if (stop.aborted) return { kind: 'incomplete' };
    if (isPlannedSend(item)) {
      if (item.adopts) state.adopt({ target, key: item.key }, name, item.path);
      // What waits is bounded: the scan goes on when there is room.
      await workers.add(() => carryOut(item, source, target, context));
    } else {
      noteItem(item, source, target, context);
      if (item.kind === 'problem' && item.hidesFiles) complete = false;
    }
    const turn = turns.step();
    if (turn !== null) await turn;
  }
  return { kind: complete ? 'complete' : 'incomplete' };
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
