import type { Halt } from '../domain/guard.ts';
import type { WalkContext } from './engine.ts';
import { enterSource } from './enter-source.ts';
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
  const entered = enterSource(source, target, state, config.removals.mode, allowHalted);
  if (entered.kind === 'halted') return entered;
  // From here on single files may be looked at as well.
  if (standings.get(name) !== 'complete') standings.set(name, 'incomplete');
  const stretch = { source, target, entries: entered.entries, records: state.records(target, name) };
  const isComplete = await walk(stretch, context, workers, isForced);
  return { kind: isComplete ? 'complete' : 'incomplete' };
}
