import type { AccessPolicy } from './settings.ts';
import type { OptionalFailure, Outcome } from './failure.ts';
import type { JsonObject } from './json.ts';

/**
 * A file as the platform has it (interface.md, File; docs/PLATFORM.md, Beyond the five operations). What an answer left
 * out, or said in a way that makes no sense, is `null` or empty.
 */
export interface CatalogFile {
  readonly id: string;
  readonly key: string;
  /** `null` until the content is there. */
  readonly sizeBytes: number | null;
  /** Such as `indexing_pending`; values that are not known may come. */
  readonly status: string | null;
  /** Why the status is a failure. */
  readonly failedReason: string | null;
  readonly contentType: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly metadata: JsonObject;
  readonly accessPolicies: readonly string[];
  readonly index: boolean | null;
  /** Epoch milliseconds; `null`: forever. */
  readonly expiresAtMs: number | null;
  /** Who made it, such as `bot`. */
  readonly ownerType: string | null;
  /** Address of the content. Unless the content is public it holds a signature: a secret. */
  readonly url: string | null;
}

/** What stays of a file when it is remembered that the platform had it. */
export type ListedFile = Omit<CatalogFile, 'url'>;

/** One page of what a bot has. `nextToken`: `null` on the last page. */
export interface CatalogPage {
  readonly files: readonly CatalogFile[];
  readonly nextToken: string | null;
}

/** Which files of a bot are listed: a page of all of them, or at most `MOST_IDS` by their ids. */
export type CatalogQuery =
  | { readonly kind: 'page'; readonly token: string | null }
  | { readonly kind: 'ids'; readonly ids: readonly string[] };

/** A list by ids takes so many at a time. */
export const MOST_IDS = 50;

/** The id and the key of no file: to ask for it is the cheapest question, and does no harm. */
export const NO_FILE = 'botsync-asks-for-nothing';

/**
 * What is told of a file without its content. Tags and metadata merge name by name, where `null` takes a name away;
 * what is left out stays. `expiresAtMs`: epoch milliseconds, a whole minute; `null`: forever.
 */
export interface FactsUpdate {
  readonly tags?: Readonly<Record<string, string | null>>;
  readonly metadata?: JsonObject;
  readonly accessPolicies?: readonly AccessPolicy[];
  readonly expiresAtMs?: number | null;
}

/** An operation that a platform need not serve. */
export type OptionalOperation = 'list' | 'get' | 'update' | 'delete' | 'search' | 'passages' | 'usage';

/**
 * What the platform says that a bot has, and what can be changed of it without sending content. Every operation is
 * optional (`not-served`), is asked once, and may be asked twice.
 */
export interface FileCatalog {
  readonly list: (
    botId: string,
    query: CatalogQuery,
    signal: AbortSignal,
  ) => Promise<Outcome<CatalogPage, OptionalFailure>>;
  /** @param name - the id of a file, or its key. */
  readonly get: (
    botId: string,
    name: string,
    signal: AbortSignal,
  ) => Promise<Outcome<CatalogFile, OptionalFailure>>;
  /** Gives the file as it is afterwards. */
  readonly update: (
    botId: string,
    id: string,
    facts: FactsUpdate,
    signal: AbortSignal,
  ) => Promise<Outcome<CatalogFile, OptionalFailure>>;
  readonly delete: (
    botId: string,
    id: string,
    signal: AbortSignal,
  ) => Promise<Outcome<null, OptionalFailure>>;
}

/** What botsync does without where an operation is not served, in words that follow a "so". */
export const LOSSES: Readonly<Record<OptionalOperation, string>> = {
  list: "uploads cannot be confirmed, and the bot's files cannot be verified",
  get: 'deleted files cannot be checked first, and expire instead',
  update: 'files with changed settings or due renewals are sent again',
  delete: 'deleted files expire instead',
  search: 'search does not work',
  passages: 'passages cannot be shown',
  usage: 'quotas are not known',
};
