import { guardRemovals, REMOVAL_WINDOW_MS, type Halt } from '../../domain/guard.ts';
import type { StateReader } from '../../state/state-reader.ts';
import type { Source } from '../sources/source.ts';
import { OutageTurn, removeFile } from './remove-file.ts';
import type { PassContext } from './sync-context.ts';

/**
 * Removes from the platform what was removed from a source, after all uploads of the pass: a renamed file is there
 * under its new key before it goes under the old one. What may be a renamed file that could not be sent stays.
 *
 * As many are under way at a time as uploads would be; all are over when it returns.
 *
 * @param recorded - files the source had on record before the pass.
 * @param approved - what someone has checked that would have halted the source.
 * @param context - its workers are idle. Throws what a removal threw.
 * @returns the halt when there are too many, and nothing was removed.
 */
export async function removeMissing(
  source: Source,
  recorded: number,
  approved: readonly Halt[],
  context: PassContext,
): Promise<Halt | null> {
  const { state, clock, summary, waitLimits, changeFeed } = context;
  const name = source.config.name;
  const target = state.targetId(source.syncTarget);
  const { removed } = state.countRecorded(target, name);
  const halt = guardOf(source, recorded, approved, context);
  const isConfirmed = approved.some(({ kind }) => kind === 'replaced' || kind === 'emptied');
  if (halt !== null && !isConfirmed && !context.isAllowed(name, halt)) {
    summary.toRemove += removed;
    return halt;
  }
  // A person who allowed it has confirmed it. A new name must have been looked at before its old one goes.
  const delayMs = halt === null && approved.length === 0 ? waitLimits.removalMs : 0;
  const missingSinceMs = Math.min(clock.now() - delayMs, changeFeed.seenUntilMs(name));
  const held = context.retriesFailed ? 0 : state.countFailedRemovals(target, name);
  summary.failed += held;
  const tried = await removeAll(source, target, missingSinceMs, context);
  if (halt !== null) state.removals.forget(name);
  // The time of the others has not come.
  summary.toRemove += removed - held - tried;
  return null;
}

/** Whether there are too many to remove; those below mounts that someone let go are expected. */
function guardOf(
  source: Source,
  recorded: number,
  approved: readonly Halt[],
  { state, clock, config }: PassContext,
): Halt | null {
  const { name } = source.config;
  const target = state.targetId(source.syncTarget);
  const { removed } = state.countRecorded(target, name);
  const recent = state.countRemovals(name, clock.now() - REMOVAL_WINDOW_MS);
  const expected = countBelow(mountsIn(approved), target, name, state);
  return guardRemovals(removed - expected, recent, recorded + recent, config.removals);
}

/** Removes what was noticed missing by a moment. Returns how many files that were. */
async function removeAll(
  source: Source,
  target: number,
  missingSinceMs: number,
  context: PassContext,
): Promise<number> {
  const { state, workers, retriesFailed } = context;
  const { name } = source.config;
  let tried = 0;
  const turn = new OutageTurn(context);
  const pageAfter = (path: string) => state.removalsDue(target, name, path, missingSinceMs, retriesFailed);
  for (let page = pageAfter(''); page.length > 0; page = pageAfter(page.at(-1)?.path ?? '')) {
    for (const record of page) {
      await workers.add(() => removeFile(source, target, record, turn, context));
      // Whether an outage is over is found out by one for all.
      if (context.isWatched && context.breaker.isOpen) await workers.idle();
    }
    tried += page.length;
  }
  await workers.idle();
  return tried;
}

function mountsIn(approved: readonly Halt[]): string[] {
  return approved.flatMap((halt) => (halt.kind === 'unmounted' ? halt.mounts : []));
}

/** How many removals are due below some mounts, none counted twice. */
function countBelow(mounts: readonly string[], target: number, source: string, state: StateReader): number {
  const outermost = mounts.filter((mount) => !mounts.some((other) => mount.startsWith(`${other}/`)));
  return outermost.reduce((sum, mount) => sum + state.countRemovalsBelow(target, source, mount), 0);
}
