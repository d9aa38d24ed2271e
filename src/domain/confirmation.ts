import { backoffMs, type Backoff } from './retry.ts';
import { delayOf, type LossCause, type PlatformStatus } from './platform-status.ts';
import type { SentRecord } from './record.ts';

const MINUTE_MS = 60_000;

/** The platform is asked the status of a file so long after the store took its last byte, milliseconds. */
export const FIRST_ASKED_AFTER_MS = 1000;

/** Asked for long, it is asked no more rarely than this, milliseconds. */
export const LONGEST_ASK_MS = 15 * MINUTE_MS;

/** A file of which a list says nothing may not be in it yet: after so long it is asked for by itself, milliseconds. */
const LISTED_AFTER_MS = MINUTE_MS;

/** A file that was lost on the platform is sent again after such delays. */
const RESEND: Backoff = { firstMs: 5000, longestMs: LONGEST_ASK_MS };

type SentFacts = Pick<SentRecord, 'sentAtMs' | 'losses'>;

/** What follows from what the platform says of a file. Delays in milliseconds from now. */
export type Step =
  | { readonly kind: 'settle'; readonly verdict: 'stored' | 'searchable' }
  | { readonly kind: 'settle'; readonly verdict: 'unsearchable'; readonly reason: string }
  /** It is not there: `refused` as it is, or to be sent again, `null`: with the next rescan. */
  | {
      readonly kind: 'lose';
      readonly state: 'failed' | 'refused';
      readonly isForWantOfRoom: boolean;
      readonly resendAfterMs: number | null;
      readonly reason: string;
    }
  /** `trouble`: what is wrong with it by now. */
  | { readonly kind: 'ask'; readonly afterMs: number; readonly trouble: string | null };

/**
 * What is done about a file after the platform was asked.
 *
 * @param attempts - how often one content is sent before it waits for a change or the next rescan.
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

/** `loss`: the number of the loss after which it is sent again; `null`: it is not. */
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

/**
 * When the platform is asked again about a file that was sent so long ago: after 1 s at first, then ever more rarely.
 * Milliseconds.
 */
export function askAfterMs(ageMs: number): number {
  // Our clock was set back: how old it is nobody knows.
  if (ageMs < 0) return MINUTE_MS;
  return Math.min(Math.max(Math.round(ageMs / 2), FIRST_ASKED_AFTER_MS), LONGEST_ASK_MS);
}

/** Whether a file that is not listed is asked for by itself by now. */
export function isOverdueInLists({ sentAtMs }: SentFacts, nowMs: number): boolean {
  return nowMs - sentAtMs >= LISTED_AFTER_MS;
}
