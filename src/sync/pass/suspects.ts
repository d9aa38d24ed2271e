import type { SyncContext } from './sync-context.ts';

/** So many are taken at a time: the next are there when it is looked again. */
const AT_A_TIME = 1000;

/** Has files sent once more of which something that another host sent may have arrived late. Gives how many they are. */
export function findSuspects(
  { state, clock }: Pick<SyncContext, 'state' | 'clock'>,
  want: (source: string, path: string) => void,
): number {
  const due = state.suspectsDue(clock.now(), AT_A_TIME);
  for (const suspect of due) {
    state.suspects.take(suspect);
    want(suspect.source, suspect.path);
  }
  state.suspects.dropForgotten(clock.now());
  return due.length;
}

/** Has a pass that is about to begin send all that is due once more: it sends what is on record as under way. */
export function findAllSuspects(context: Pick<SyncContext, 'state' | 'clock'>): void {
  while (findSuspects(context, () => undefined) > 0);
}
