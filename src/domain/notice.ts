/**
 * Topics of notifications:
 * - `failing`: files that could not be sent, an unreachable platform, a configuration that cannot be loaded, or sources that no
 *   host of a cluster syncs;
 * - `recovered`: the end of a reported problem;
 * - `halted`: a source that a guard stopped;
 * - `expiring`: files that could not be sent again before they expire;
 * - `credentials`: the platform refuses the token or the bot;
 * - `summary`: a regular overview.
 */
export const TOPICS = ['failing', 'recovered', 'halted', 'expiring', 'credentials', 'summary'] as const;

export type Topic = (typeof TOPICS)[number];

export interface NotifySettings {
  readonly on: ReadonlySet<Topic>;
  /** The shortest time between two messages about a problem that comes back or grows, milliseconds. */
  readonly quietMs: number;
  readonly summaryEveryMs: number;
  /** Patterns as in rules: uploads of matching files are announced. */
  readonly announce: readonly string[];
}

/** The conversation for notifications: an existing one, or one that botsync creates. */
export type ConversationChoice =
  | { readonly kind: 'existing'; readonly conversationId: string }
  | {
      readonly kind: 'created';
      readonly channel: string;
      readonly tags: Readonly<Record<string, string>>;
      /** The hub integration that creates the conversation; `null`: none. */
      readonly integration: { readonly name: string; readonly version: string } | null;
    };

/** A file that was just uploaded. */
export interface Delivery {
  readonly source: string;
  /** Relative to the source. */
  readonly path: string;
  readonly key: string;
  /** The number of the target in the state file. */
  readonly target: number;
  readonly sha256: Buffer;
  /** Everybody may read the content (interface.md, Create or update a file: `public_content`). */
  readonly isPublic: boolean;
  /** Address of the content (interface.md, File: `url`); `null`: the answer had none, or the content is not public. */
  readonly publicUrl: string | null;
}
