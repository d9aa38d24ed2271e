import type { SyncContext } from '../pass/sync-context.ts';

/** So many are taken at a time: the next are there when it is looked again. */
const AT_A_TIME = 1000;

/** Has files sent once more of which something that another host sent may have arrived late. */
export function findSuspects(
  { state, clock }: Pick<SyncContext, 'state' | 'clock'>,
  want: (source: string, path: string) => void,
): void {
  for (const suspect of state.suspects.due(clock.now(), AT_A_TIME)) {
    state.suspects.take(suspect);
    want(suspect.source, suspect.path);
  }
  state.suspects.dropForgotten(clock.now());
}
