import type { Halt } from '../../domain/guard.ts';
import type { WalkContext } from './engine.ts';
import { enterSource } from '../sources/enter-source.ts';
import type { Source } from '../sources/source.ts';
import { inTurns } from '../plan/turns.ts';
import { walk } from './walk.ts';
import type { Workers } from './workers.ts';

/** How the walk over a source ended. Removals need a complete one: what was not seen may still be there. */
export type Walk =
  | { readonly kind: 'halted'; readonly halt: Halt }
  /** `approved`: what would have halted it, had nobody looked at it. */
  | { readonly kind: 'complete' | 'incomplete'; readonly approved: readonly Halt[] };

/** Checks a source's directory and walks all of it. Sends may still run when it ends. */
export async function syncSource(
  source: Source,
  context: WalkContext,
  workers: Workers,
  isForced: (path: string) => boolean,
  retriesFailed: boolean,
  isAllowed: (halt: Halt) => boolean,
): Promise<Walk> {
  const { state, config } = context;
  const name = source.config.name;
  const target = state.targetId(source.syncTarget);
  const entered = await inTurns(
    enterSource(source, target, state, config.removals.mode, isAllowed),
    context.clock,
  );
  if (entered.kind === 'halted') return entered;
  const stretch = { source, target, entries: entered.entries, records: state.records(target, name) };
  const ended = await walk(stretch, context, workers, isForced, retriesFailed);
  if (ended !== 'lost') return { kind: ended, approved: entered.approved };
  const reason = `${source.root} was unmounted, removed or replaced while it was looked at`;
  return { kind: 'halted', halt: { kind: 'missing', reason } };
}
