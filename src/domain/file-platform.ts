import type { Outcome } from './failure.ts';
import type { UpsertBody } from './limits.ts';

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
