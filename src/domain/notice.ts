/**
 * What people may want to hear of:
 * - `failing`: files that could not be sent, a platform that is unreachable, a configuration that cannot be loaded, or sources
 *   that no host of a cluster syncs;
 * - `recovered`: the end of a trouble they were told of;
 * - `halted`: a source that a guard stopped;
 * - `expiring`: files that could not be sent again before they expire;
 * - `credentials`: the platform refuses the token or the bot;
 * - `summary`: how everything stands, now and then.
 */
export const TOPICS = ['failing', 'recovered', 'halted', 'expiring', 'credentials', 'summary'] as const;

/** One of them. */
export type Topic = (typeof TOPICS)[number];

/** How people are told. */
export interface NotifySettings {
  readonly on: ReadonlySet<Topic>;
  /** A trouble that comes back, or grows, is told of no sooner than this after the last message on it, milliseconds. */
  readonly quietMs: number;
  /** From one summary to the next, milliseconds. */
  readonly summaryEveryMs: number;
  /** Patterns as in rules: a matching file is announced when its content has reached the platform. */
  readonly announce: readonly string[];
}

/** Where people are told: in a conversation that is there, or in one that botsync creates. */
export type ConversationChoice =
  | { readonly kind: 'existing'; readonly conversationId: string }
  | {
      readonly kind: 'created';
      readonly channel: string;
      readonly tags: Readonly<Record<string, string>>;
      /** The hub's integration as which it is created; `null`: as none. */
      readonly integration: { readonly name: string; readonly version: string } | null;
    };
/** A file whose content the platform's store has just taken. */
export interface Delivery {
  readonly source: string;
  /** Relative to the source. */
  readonly path: string;
  readonly key: string;
  /** The number of the target in the state file. */
  readonly target: number;
  readonly sha256: Buffer;
  /** Whether everybody may read the content (interface.md, Create or update a file: `public_content`). */
  readonly isPublic: boolean;
  /** Address of the content (interface.md, File: `url`); `null` when the platform named none, or it is not public. */
  readonly publicUrl: string | null;
}
