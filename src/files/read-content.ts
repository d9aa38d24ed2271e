import { createHash, hash, type Hash } from 'node:crypto';
import { readSync } from 'node:fs';
import { REUSABLE_CHUNK_BYTES, type OutgoingContent } from '../domain/file-catalog.ts';
import type { SourceFile } from './source-file.ts';

/** Content up to this size is read at once: a stream would cost more than the memory it saves. */
export const WHOLE_UP_TO_BYTES = 256 * 1024;

/** Larger content is sent in pieces of this size, by which progress is measured … */
const SLICE_BYTES = REUSABLE_CHUNK_BYTES;

const CHUNK_BYTES = 2 * SLICE_BYTES;

/** Content up to an eighth of this size is read into memory that it shares with other content. */
const SLAB_BYTES = 128 * 1024;

/** The file was written to, truncated or replaced while it was read: the bytes read may never have been its content. */
export class ChangedWhileRead extends Error {}

/** Content with the digest of exactly the bytes that were sent; complete when the content was read to its end. */
export interface HashedContent {
  readonly content: OutgoingContent;
  /** Returns the SHA-256. */
  readonly digest: () => Buffer;
  /** Returns why a stream was not read to its end: `ChangedWhileRead`, or an error of the file system. */
  readonly readError: () => unknown;
}

/**
 * Returns the content of an open file. Small content is read immediately.
 *
 * Checks that the file is unchanged before the last byte is handed out, so that a torn upload is never completed.
 * Throws `ChangedWhileRead`: here for small content, from the stream for large content.
 */
export function readContent(file: SourceFile): HashedContent {
  const { sizeBytes } = file;
  if (sizeBytes > WHOLE_UP_TO_BYTES) {
    const running = createHash('sha256');
    let readError: unknown = null;
    const chunks = readChunks(file, running, (error) => {
      readError = error;
    });
    return {
      content: { kind: 'stream', sizeBytes, chunks },
      digest: () => running.digest(),
      readError: () => readError,
    };
  }
  const bytes = allocate(sizeBytes);
  for (let at = 0; at < sizeBytes;) {
    const got = readSync(file.fd, bytes, at, sizeBytes - at, at);
    if (got === 0) throw new ChangedWhileRead();
    at += got;
  }
  if (!file.isUnchanged()) throw new ChangedWhileRead();
  const digest = hash('sha256', bytes, 'buffer');
  return { content: { kind: 'whole', bytes }, digest: () => digest, readError: () => null };
}

let slab = Buffer.alloc(0);
let slabUsedBytes = 0;

/** Allocates memory for content. Small content shares a slab: an allocation of its own costs as much as reading it. */
function allocate(sizeBytes: number): Buffer {
  if (sizeBytes > SLAB_BYTES / 8) return Buffer.allocUnsafeSlow(sizeBytes);
  if (slabUsedBytes + sizeBytes > slab.length) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    slabUsedBytes = 0;
  }
  const bytes = slab.subarray(slabUsedBytes, slabUsedBytes + sizeBytes);
  slabUsedBytes += sizeBytes;
  return bytes;
}

/** Returns the SHA-256 of an open file's content. Throws `ChangedWhileRead`. */
export async function hashContent(file: SourceFile): Promise<Buffer> {
  const { content, digest } = readContent(file);
  switch (content.kind) {
    case 'whole':
      break;
    case 'stream': {
      // Hashes by reading.
      const chunks = content.chunks[Symbol.asyncIterator]();
      while ((await chunks.next()).done !== true);
    }
  }
  return digest();
}

/** Reads one chunk ahead of the one that is being sent, alternating between two buffers. */
async function* readChunks(
  file: SourceFile,
  running: Hash,
  onError: (error: unknown) => void,
): AsyncGenerator<Buffer> {
  const { sizeBytes } = file;
  const readNext = (at: number, into: Buffer | null): Promise<Buffer> => {
    const length = Math.min(CHUNK_BYTES, sizeBytes - at);
    return file.read(at, into?.subarray(0, length) ?? Buffer.allocUnsafeSlow(length));
  };
  try {
    let next = readNext(0, null);
    let before: Buffer | null = null;
    for (let at = 0; at < sizeBytes;) {
      const chunk = await next;
      at += chunk.length;
      if (chunk.length === 0) throw new ChangedWhileRead();
      if (at < sizeBytes) {
        // A consumer that asks for more no longer uses the previous chunk. A short chunk is not reused: a connection
        // may accept its small last slice and ask for more before the slice is sent.
        next = readNext(at, before?.length === CHUNK_BYTES ? before : null);
        // The read may fail while the receiver is busy or has left: prevents an unhandled rejection.
        next.catch(() => undefined);
      }
      before = chunk;
      running.update(chunk);
      for (let from = 0; from < chunk.length; from += SLICE_BYTES) {
        const isLast = at === sizeBytes && from + SLICE_BYTES >= chunk.length;
        if (isLast && !(file.isUnchanged() && file.isInPlace())) throw new ChangedWhileRead();
        yield chunk.subarray(from, from + SLICE_BYTES);
      }
    }
  } catch (error) {
    onError(error);
    throw error;
  }
}
