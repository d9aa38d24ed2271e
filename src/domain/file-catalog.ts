import type { AccessPolicy } from './settings.ts';
import type { OptionalFailure, Outcome } from './failure.ts';
import type { JsonObject } from './json.ts';
import type { UpsertBody } from './limits.ts';

/**
 * A file as the platform has it (interface.md, File; docs/PLATFORM.md, Beyond the five operations). Missing or invalid fields of
 * an answer are `null` or empty.
 */
export interface CatalogFile {
  readonly id: string;
  readonly key: string;
  /** `null` until the platform has the content. */
  readonly sizeBytes: number | null;
  /** Such as `indexing_pending`; unknown values are possible. */
  readonly status: string | null;
  readonly failedReason: string | null;
  readonly contentType: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly metadata: JsonObject;
  readonly accessPolicies: readonly string[];
  readonly index: boolean | null;
  /** Epoch milliseconds; `null`: never expires. */
  readonly expiresAtMs: number | null;
  /** The creator, such as `bot`. */
  readonly ownerType: string | null;
  /** Address of the content. Contains a signature, which is a secret, unless the content is public. */
  readonly url: string | null;
}

/** The part of a file's entry that is stored. */
export type ListedFile = Omit<CatalogFile, 'url'>;

/** `nextToken`: `null` on the last page. */
export interface CatalogPage {
  readonly files: readonly CatalogFile[];
  readonly nextToken: string | null;
}

/** A page of all files of a bot, or at most `MOST_IDS` files by their ids. */
export type CatalogQuery =
  | { readonly kind: 'page'; readonly token: string | null }
  | { readonly kind: 'ids'; readonly ids: readonly string[] };

/** The most ids in one list request. */
export const MOST_IDS = 50;

/** An id and key that no file has: a request for it is the cheapest one, and harmless. */
export const NO_FILE = 'botsync-asks-for-nothing';

/**
 * Settings that change without sending content. Tags and metadata merge name by name, and `null` removes a name; absent fields
 * stay as they are. `expiresAtMs`: epoch milliseconds, a whole minute; `null`: never.
 */
export interface FactsUpdate {
  readonly tags?: Readonly<Record<string, string | null>>;
  readonly metadata?: JsonObject;
  readonly accessPolicies?: readonly AccessPolicy[];
  readonly expiresAtMs?: number | null;
}

/** An operation that a platform may not offer. */
export type OptionalOperation = 'list' | 'get' | 'update' | 'delete' | 'search' | 'passages' | 'usage';

/**
 * Reads a bot's files on the platform, and changes them without sending content. The platform may not offer an operation
 * (`not-served`). None of them retries; a retry does no harm.
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
  /** Returns the file after the update. */
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

/** Consequences of an operation that is not offered, for messages, after "so". */
export const LOSSES: Readonly<Record<OptionalOperation, string>> = {
  list: "uploads cannot be confirmed, and the bot's files cannot be verified",
  get: 'deleted files cannot be checked first, and expire instead',
  update: 'files with changed settings or due renewals are sent again',
  delete: 'deleted files expire instead',
  search: 'search does not work',
  passages: 'passages cannot be shown',
  usage: 'quotas are not known',
};

/** No connection buffers a chunk of this size and asks for the next before it is sent. */
export const REUSABLE_CHUNK_BYTES = 256 * 1024;

export type OutgoingContent =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  /**
   * Read once, while it is sent. An error thrown by `chunks` ends the request. The producer may overwrite a chunk of
   * `REUSABLE_CHUNK_BYTES` or more as soon as the next one is requested.
   */
  | { readonly kind: 'stream'; readonly sizeBytes: number; readonly chunks: AsyncIterable<Buffer> };

/** Where a file's content is uploaded (interface.md, File). */
export interface UploadAddress {
  /** Contains a signature, which is a secret. */
  readonly uploadUrl: URL;
  readonly contentType: string;
}

/** The used part of the answer to an upsert (interface.md, File). */
export interface UpsertedFile extends UploadAddress {
  /** `null`: the answer had no id. */
  readonly id: string | null;
  /**
   * Address of the content. May contain a signature, which is a secret, unless the content is public. `null`: the answer had
   * none.
   */
  readonly url: string | null;
}

/** The file storage of the platform. Neither method retries. */
export interface FilePlatform {
  /** Creates or updates a file's entry, which erases its content (interface.md, Create or update a file). */
  readonly upsert: (botId: string, body: UpsertBody, signal: AbortSignal) => Promise<Outcome<UpsertedFile>>;
  /** Sends the content to the upload address. `publicAtOnce`: `publicContentImmediatelyAccessible` was set. */
  readonly upload: (
    address: UploadAddress,
    content: OutgoingContent,
    publicAtOnce: boolean,
    signal: AbortSignal,
  ) => Promise<Outcome<null>>;
  /** Recent upload rate in bytes a second, over all uploads; `null`: unknown. */
  readonly storeBytesPerSecond: () => number | null;
  /** The platform's time, epoch milliseconds. */
  readonly now: () => number;
  /** Returns whether `now` comes from an answer of the platform; until then it is this machine's time. */
  readonly isTimeKnown: () => boolean;
}
