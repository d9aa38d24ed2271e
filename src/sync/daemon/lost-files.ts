import type { SyncContext } from '../pass/sync-context.ts';

/** The most files that are requested at a time; the next check finds the others. */
const AT_A_TIME = 1000;

/**
 * Requests a rescan of each file that the platform lost after its store had accepted it, and whose resend is due. If
 * the rescan does not send it, the next pass that retries failed files does.
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
