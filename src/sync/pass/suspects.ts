import type { SyncContext } from './sync-context.ts';

/** The most files that are taken at a time; the next check finds the others. */
const AT_A_TIME = 1000;

/** Requests that files be sent again that a late request of another host may have overwritten. Returns their number. */
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

/** Marks all due suspects before a pass, which sends them because their records then say that they are in progress. */
export function findAllSuspects(context: Pick<SyncContext, 'state' | 'clock'>): void {
  while (findSuspects(context, () => undefined) > 0);
}
