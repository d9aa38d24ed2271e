import type { LookupFailure, Outcome } from '../domain/failure.ts';
import type { Topic } from '../domain/notice.ts';

/** A notification. `text` says everything; the rest is for programs. */
export interface OutgoingMessage {
  readonly text: string;
  readonly event: 'began' | 'grew' | 'over' | 'summary' | 'test';
  /** `null` for a test. */
  readonly topic: Topic | null;
  /** The source concerned; `null`: all. */
  readonly source: string | null;
  /** The number of files concerned; `null`: it is not about files. */
  readonly files: number | null;
}

/** An audio file that is announced. */
export interface OutgoingAnnouncement {
  readonly key: string;
  readonly url: string;
}

/** Where a message went: the id of a conversation, or the origin of a webhook. */
export type Destination = { readonly conversation: string } | { readonly webhook: string };

/** The place that notifications are sent to. Does not retry; what it uses may. */
export interface NotificationChannel {
  /** Checks whether messages could be sent, without sending or creating anything. Returns where they would go; `null`: to a conversation that is created with the first message. */
  readonly check: (signal: AbortSignal) => Promise<Outcome<Destination | null, LookupFailure>>;
  /** Makes the place ready, so that a problem with it shows before it is needed. */
  readonly open: (signal: AbortSignal) => Promise<Outcome<unknown, LookupFailure>>;
  readonly send: (
    message: OutgoingMessage,
    signal: AbortSignal,
  ) => Promise<Outcome<Destination, LookupFailure>>;
  readonly announce: (
    announcement: OutgoingAnnouncement,
    signal: AbortSignal,
  ) => Promise<Outcome<Destination, LookupFailure>>;
}
