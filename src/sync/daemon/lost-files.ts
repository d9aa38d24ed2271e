import type { SyncContext } from '../pass/sync-context.ts';

/** So many are asked for at a time: the next are there when it is looked again. */
const AT_A_TIME = 1000;

/**
 * Asks for a rescan of each file that the platform lost after its store had taken it, and that is to be sent again now. One
 * whose rescan does not come to that is sent by the next pass that tries failed files again.
 */
export function findLost(
  { confirmations, state, clock }: Pick<SyncContext, 'confirmations' | 'state' | 'clock'>,
  want: (source: string, path: string) => void,
): void {
  for (const { target } of confirmations?.bots ?? []) {
    for (const lost of state.resendsDue(target, clock.now(), AT_A_TIME)) {
      state.remote.takeResend(lost);
      want(lost.source, lost.path);
    }
  }
}
