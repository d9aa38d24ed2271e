import type { FileEvent, Summary, Transferred } from '../domain/report.ts';
import type { Additions, Usages } from '../domain/usage.ts';
import type { FileDifference } from '../sync/catalog/compare.ts';
import type { Refusal, RunEvent, Trigger } from '../sync/events.ts';
import type { Verified } from '../domain/status.ts';
import { haltAsFileEvent } from '../words/halt.ts';
import { passOutcomeOf, type PassOutcome } from './pass-outcome.ts';

/**
 * An event of a run:
 * - `file`: a result for a file, or for a whole source (then `path` is "."); `transferred`: what was sent for it.
 * - `planned`: what a pass would do with a file.
 * - `warning`: a message about a problem of more than one file.
 * - `notice`: a message that needs no attention, such as the end of an outage.
 * - `retrying`: a file will be sent again after a failure.
 * - `sent`: bytes of content sent since the last event of this kind.
 * - `expected`: how much will be sent, as far as is known beforehand.
 * - `confirming`: everything was sent, and the platform is being asked for the status of the files.
 * - `usage`: used and allowed amounts of the quotas, and what the run adds.
 * - `pass-began`, `pass-ended`: a full pass; `trigger` is `call` for `pass()` and `verify()`.
 * - `difference`, `verified`: a difference that a comparison found, and the result of the comparison.
 * - `refused`: the platform began to refuse requests that need credentials or room; `reason` is `null` when it accepts
 *   them again.
 * - `events-lost`, `watch-limited`, `found-by-rescan`: a daemon did not see all changes of a source.
 * - `renewals-overdue`: `count` files could not be renewed in time and will expire.
 * - `dropped`: `count` events were dropped here, because the reader was too slow.
 */
export type SyncEvent =
  | { readonly kind: 'file'; readonly file: FileEvent; readonly transferred?: Transferred }
  | { readonly kind: 'planned'; readonly file: FileEvent }
  | { readonly kind: 'warning' | 'notice'; readonly message: string }
  | {
      readonly kind: 'retrying';
      readonly path: string;
      readonly reason: string;
      readonly delayMs: number;
    }
  | { readonly kind: 'sent'; readonly bytes: number }
  | { readonly kind: 'expected'; readonly files: number; readonly bytes: number }
  | { readonly kind: 'confirming'; readonly words: string }
  | { readonly kind: 'usage'; readonly usages: Usages; readonly additions: Additions }
  | { readonly kind: 'pass-began'; readonly trigger: Trigger | 'call' }
  | {
      readonly kind: 'pass-ended';
      readonly trigger: Trigger | 'call';
      readonly summary: Summary;
      /** Only for a pass of a daemon; a call returns its outcome. */
      readonly outcome?: PassOutcome;
    }
  | { readonly kind: 'difference'; readonly difference: FileDifference }
  | { readonly kind: 'verified'; readonly verified: Verified }
  | { readonly kind: 'refused'; readonly what: Refusal; readonly reason: string | null }
  | { readonly kind: 'events-lost'; readonly source: string; readonly reason: string }
  | { readonly kind: 'watch-limited'; readonly source: string; readonly message: string }
  | { readonly kind: 'found-by-rescan'; readonly source: string }
  | { readonly kind: 'renewals-overdue'; readonly count: number }
  | { readonly kind: 'dropped'; readonly count: number };

/** Default capacity of the queue of a consumer. */
export const EVENTS_WAITING = 1_000;

/** Kinds of events that readers of `events()` do not receive. */
const INTERNAL = [
  'attempt-began',
  'attempt-progress',
  'attempt-ended',
  'counting',
  'waiting',
  'breaking-off',
  'started',
] as const;

type InternalEvent = Extract<RunEvent, { readonly kind: (typeof INTERNAL)[number] }>;

function isInternal(event: RunEvent): event is InternalEvent {
  return (INTERNAL as readonly string[]).includes(event.kind);
}

/** Returns what readers of `events()` receive for an event of a run; `null`: nothing. */
export function syncEventOf(event: RunEvent): SyncEvent | null {
  if (isInternal(event)) return null;
  if (event.kind === 'file') {
    const { file, transferred } = event;
    return { kind: 'file', file, ...(transferred !== undefined && { transferred }) };
  }
  if (event.kind === 'halted') return { kind: 'file', file: haltAsFileEvent(event) };
  if (event.kind === 'call-began') return { kind: 'pass-began', trigger: 'call' };
  if (event.kind === 'call-ended')
    return { kind: 'pass-ended', trigger: 'call', summary: { ...event.summary } };
  if (event.kind === 'pass-ended') {
    const { trigger, summary, exitCode } = event;
    return { kind: 'pass-ended', trigger, summary: { ...summary }, outcome: passOutcomeOf(exitCode) };
  }
  return event;
}
