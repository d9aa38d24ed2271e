import { backoffMs, type Backoff } from './backoff.ts';
import type { CatalogFile } from './file-catalog.ts';
import { readMark } from './mark.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The platform is asked the status of a file so long after the store took its last byte, milliseconds. */
export const FIRST_ASKED_AFTER_MS = 1000;

/** Asked for long, it is asked no more rarely than this, milliseconds. */
export const LONGEST_ASK_MS = 15 * MINUTE_MS;

/** Content that the store took, and the platform has not seen after so long, is sent again, milliseconds. */
const CONTENT_SEEN_AFTER_MS = 10 * MINUTE_MS;

/** A file of which a list says nothing may not be in it yet: after so long it is asked for by itself, milliseconds. */
const LISTED_AFTER_MS = MINUTE_MS;

/** A file that was lost on the platform is sent again after such delays. */
const RESEND: Backoff = { firstMs: 5000, longestMs: LONGEST_ASK_MS };

/** What the platform says of a file that was sent. */
export type Word =
  /** It has the content, and the bot can search it where it is to be indexed. */
  | { readonly kind: 'final'; readonly verdict: 'stored' | 'searchable'; readonly said: string }
  | { readonly kind: 'unsearchable'; readonly said: string; readonly reason: string }
  /** It does not have what the store took. */
  | { readonly kind: 'lost'; readonly said: string; readonly reason: string; readonly cause: LossCause }
  /** It is on its way, or says something that is not known. */
  | { readonly kind: 'pending'; readonly said: string };

/** Why the platform does not have what the store took. */
export type LossCause = 'quota' | 'size' | 'other';

/** The file does not exist. */
export const GONE: Word = {
  kind: 'lost',
  said: 'not found',
  reason: 'the platform no longer has it',
  cause: 'other',
};

/** It is not listed, which need not mean that it is gone. */
export const NOT_LISTED: Word = { kind: 'pending', said: 'not listed' };

/** What of an answer the platform's word is in. */
type SpokenFile = Pick<CatalogFile, 'status' | 'failedReason' | 'index' | 'sizeBytes' | 'metadata'>;

/** A file that was sent, as far as its fate depends on it. */
export interface SentFile {
  readonly sizeBytes: number;
  readonly sha256: Buffer;
  /** When the store had every byte, epoch milliseconds. */
  readonly sentAtMs: number;
  /** How often the platform lost this content before. */
  readonly losses: number;
}

/**
 * What the platform says of a file (docs/PLATFORM.md, What is said about a file's life).
 *
 * @param isIndexed - whether it was sent to be indexed; `null`: that is not known any more.
 */
export function wordOf(
  file: SpokenFile,
  sent: Pick<SentFile, 'sizeBytes' | 'sha256'>,
  isIndexed: boolean | null,
): Word {
  const word = readStatus(file, isIndexed ?? file.index ?? false);
  const isFate = word.kind === 'final' || word.kind === 'unsearchable';
  return isFate && !isAbout(file, sent) ? { kind: 'pending', said: `${word.said} with other content` } : word;
}

function readStatus({ status, failedReason }: SpokenFile, isIndexed: boolean): Word {
  const said = status ?? 'no status';
  switch (status) {
    case 'upload_failed': {
      const why = failedReason ?? 'it does not say why';
      return { kind: 'lost', said, reason: `the platform refused the content: ${why}`, cause: causeOf(why) };
    }
    case 'upload_completed':
      return isIndexed ? { kind: 'pending', said } : { kind: 'final', verdict: 'stored', said };
    case 'indexing_completed':
      return { kind: 'final', verdict: isIndexed ? 'searchable' : 'stored', said };
    case 'indexing_failed':
      return isIndexed
        ? { kind: 'unsearchable', said, reason: failedReason ?? 'the platform does not say why' }
        : { kind: 'final', verdict: 'stored', said };
    case null:
    default:
      return { kind: 'pending', said };
  }
}

/** By the words of a reason: it has no other form. */
function causeOf(reason: string): LossCause {
  if (/quota/iu.test(reason)) return 'quota';
  return /\btoo (?:large|big)\b|\blarger than\b|\bat most [\d,.]+|\b(?:size|bytes) limit\b|\bmaximum (?:file )?size\b/iu.test(
    reason,
  )
    ? 'size'
    : 'other';
}

/** Whether an answer is about what was sent: a list may lag behind, and show what was there before under the same id. */
function isAbout({ sizeBytes, metadata }: SpokenFile, sent: Pick<SentFile, 'sizeBytes' | 'sha256'>): boolean {
  const mark = readMark(metadata);
  return sizeBytes === sent.sizeBytes && (mark === null || mark.sha256 === sent.sha256.toString('hex'));
}

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
export function stepAfter(word: Word, sent: SentFile, attempts: number, nowMs: number): Step {
  switch (word.kind) {
    case 'final':
      return { kind: 'settle', verdict: word.verdict };
    case 'unsearchable':
      return { kind: 'settle', verdict: 'unsearchable', reason: `could not be indexed: ${word.reason}` };
    case 'lost':
      return lose(word.cause, word.reason, sent.losses + 1 < attempts ? sent.losses + 1 : null);
    case 'pending':
      return whilePending(word.said, sent, nowMs);
  }
}

/** `loss`: the number of the loss after which it is sent again; `null`: it is not. */
function lose(cause: LossCause, reason: string, loss: number | null): Step {
  const resendAfterMs = cause === 'other' && loss !== null ? backoffMs(RESEND, loss) : null;
  const state = cause === 'size' ? 'refused' : 'failed';
  return { kind: 'lose', state, isForWantOfRoom: cause === 'quota', resendAfterMs, reason };
}

function whilePending(said: string, { sentAtMs, losses }: SentFile, nowMs: number): Step {
  const ageMs = nowMs - sentAtMs;
  if (said === 'upload_pending' && ageMs >= CONTENT_SEEN_AFTER_MS)
    return lose(
      'other',
      'the store received the content, but the platform has not registered it after 10 minutes',
      losses === 0 ? 1 : null,
    );
  const trouble =
    ageMs < DAY_MS ? null : `not confirmed a day after it was sent: the platform still reports "${said}"`;
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
export function isOverdueInLists({ sentAtMs }: SentFile, nowMs: number): boolean {
  return nowMs - sentAtMs >= LISTED_AFTER_MS;
}
