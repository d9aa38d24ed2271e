import type { Outcome } from './failure.ts';
import type { UpsertBody } from './limits.ts';

/** So much no connection takes and asks for more before it is out. */
export const REUSABLE_CHUNK_BYTES = 256 * 1024;

/** The content of a file on its way out. */
export type OutgoingContent =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  /**
   * Read while it is sent, once. An error that `chunks` throws ends the request. The maker of the chunks may overwrite one of
   * `REUSABLE_CHUNK_BYTES` or more as soon as the next is asked for.
   */
  | { readonly kind: 'stream'; readonly sizeBytes: number; readonly chunks: AsyncIterable<Buffer> };

/** Where a file's content goes (interface.md, File). */
export interface UploadAddress {
  /** It holds a signature: a secret. */
  readonly uploadUrl: URL;
  readonly contentType: string;
}

/** What is needed of the answer to an upsert (interface.md, File). */
export interface UpsertedFile extends UploadAddress {
  /** The platform's id of the file; `null`: none was named. */
  readonly id: string | null;
  /** Address of the content. Unless the content is public it may hold a signature: a secret. `null`: none was named. */
  readonly url: string | null;
}

/** The file storage as the upload stage needs it: one upsert, one upload, neither repeated. */
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
  /** Bytes of content that the store took lately in a second, over all uploads; `null`: not known. */
  readonly storeBytesPerSecond: () => number | null;
  /** The platform's time, epoch milliseconds. */
  readonly now: () => number;
  /** Whether an answer told it; until then it is ours. */
  readonly hasToldTime: () => boolean;
}
