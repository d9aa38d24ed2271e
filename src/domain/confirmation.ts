import { backoffMs, type Backoff } from './retry.ts';
import { delayOf, type LossCause, type PlatformStatus } from './platform-status.ts';
import type { SentRecord } from './record.ts';

const MINUTE_MS = 60_000;

/** Delay between the end of an upload and the first question for the file's status, milliseconds. */
export const FIRST_ASKED_AFTER_MS = 1000;

/** The longest delay between two questions for a status. */
export const LONGEST_ASK_MS = 15 * MINUTE_MS;

/** A list may not have a new file yet: after this long the file is asked for individually, milliseconds. */
const LISTED_AFTER_MS = MINUTE_MS;

const RESEND: Backoff = { firstMs: 5000, longestMs: LONGEST_ASK_MS };

type SentFacts = Pick<SentRecord, 'sentAtMs' | 'losses'>;

/** The consequence of a status. Delays in milliseconds from now. */
export type Step =
  | { readonly kind: 'settle'; readonly verdict: 'stored' | 'searchable' }
  | { readonly kind: 'settle'; readonly verdict: 'unsearchable'; readonly reason: string }
  /**
   * The platform does not have the content. `refused`: it does not accept the file as it is. `resendAfterMs`: `null`: the next
   * rescan may send it.
   */
  | {
      readonly kind: 'lose';
      readonly state: 'failed' | 'refused';
      readonly isForWantOfRoom: boolean;
      readonly resendAfterMs: number | null;
      readonly reason: string;
    }
  /** `trouble`: the problem with the file so far. */
  | { readonly kind: 'ask'; readonly afterMs: number; readonly trouble: string | null };

/**
 * Returns what to do about a file after the platform reported its status.
 *
 * @param attempts - how often the same content is sent before it waits for a change or the next rescan.
 * @param nowMs - by the clock of `sentAtMs`.
 */
export function stepAfter(status: PlatformStatus, sent: SentFacts, attempts: number, nowMs: number): Step {
  switch (status.kind) {
    case 'final':
      return { kind: 'settle', verdict: status.verdict };
    case 'unsearchable':
      return { kind: 'settle', verdict: 'unsearchable', reason: status.reason };
    case 'lost':
      return lose(status.cause, status.reason, sent.losses + 1 < attempts ? sent.losses + 1 : null);
    case 'unregistered':
    case 'other':
    case 'pending':
      return whilePending(status, sent, nowMs);
  }
}

/** `loss`: the number of the loss, for the delay before the file is sent again; `null`: it is not. */
function lose(cause: LossCause, reason: string, loss: number | null): Step {
  const resendAfterMs = cause === 'other' && loss !== null ? backoffMs(RESEND, loss) : null;
  const state = cause === 'size' ? 'refused' : 'failed';
  return { kind: 'lose', state, isForWantOfRoom: cause === 'quota', resendAfterMs, reason };
}

function whilePending(status: PlatformStatus, { sentAtMs, losses }: SentFacts, nowMs: number): Step {
  const ageMs = nowMs - sentAtMs;
  const delay = delayOf(status, ageMs);
  if (delay === 'lost')
    return lose(
      'other',
      'the store received the content, but the platform has not registered it after 10 minutes',
      losses === 0 ? 1 : null,
    );
  const trouble =
    delay === 'late'
      ? `not confirmed a day after it was sent: the platform still reports "${status.said}"`
      : null;
  return { kind: 'ask', afterMs: askAfterMs(ageMs), trouble };
}

/** Returns the delay until the next question for a status, milliseconds: 1 s at first, longer the older the upload is. */
export function askAfterMs(ageMs: number): number {
  // The clock was set back: the age is unknown.
  if (ageMs < 0) return MINUTE_MS;
  return Math.min(Math.max(Math.round(ageMs / 2), FIRST_ASKED_AFTER_MS), LONGEST_ASK_MS);
}

/** Returns whether a file that lists do not have is now asked for individually. */
export function isOverdueInLists({ sentAtMs }: SentFacts, nowMs: number): boolean {
  return nowMs - sentAtMs >= LISTED_AFTER_MS;
}
