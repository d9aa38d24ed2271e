import { createHash, hash, type Hash } from 'node:crypto';
import { readSync } from 'node:fs';
import { REUSABLE_CHUNK_BYTES, type OutgoingContent } from '../domain/file-platform.ts';
import type { SourceFile } from './source-file.ts';

/** Content up to this size is read at once: a stream costs more than the memory it saves. */
export const WHOLE_UP_TO_BYTES = 256 * 1024;

/** Larger content is handed on in pieces of this size: by them it is noticed whether the other side still takes any … */
const SLICE_BYTES = REUSABLE_CHUNK_BYTES;

/** … and read two at a time. */
const CHUNK_BYTES = 2 * SLICE_BYTES;

/** Content up to an eighth of this is read into a piece of memory that it shares with other content. */
const SLAB_BYTES = 128 * 1024;

/** The file was written to, cut, or replaced while it was read: what was read is no state it ever had. */
export class ChangedWhileRead extends Error {}

/** Content with the digest of exactly the bytes that went out; complete when the content was read to its end. */
export interface HashedContent {
  readonly content: OutgoingContent;
  /** SHA-256. */
  readonly digest: () => Buffer;
  /** What kept a stream from being read to its end: `ChangedWhileRead`, or an error of the file system. */
  readonly readError: () => unknown;
}

/**
 * The content of an open file. Small content is read here and now.
 *
 * That the file stood still is checked before the last byte is let go, so that a torn upload is never completed: throws
 * `ChangedWhileRead`, here for small content, from the stream for large.
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

/** Memory for content. Small content shares it: memory of its own would cost it as much as reading it. */
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

/** The SHA-256 of an open file's content. Throws `ChangedWhileRead`. */
export async function hashContent(file: SourceFile): Promise<Buffer> {
  const { content, digest } = readContent(file);
  switch (content.kind) {
    case 'whole':
      break;
    case 'stream': {
      // Reading is what hashes.
      const chunks = content.chunks[Symbol.asyncIterator]();
      while ((await chunks.next()).done !== true);
    }
  }
  return digest();
}

/** Reads one chunk ahead of the one that is being sent, by turns into two buffers. */
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
        // A consumer that asks for more has done with the chunk before. Of one that was cut short the last slice may be small
        // enough for a connection to take it and ask for more before it is out.
        next = readNext(at, before?.length === CHUNK_BYTES ? before : null);
        // It may fail while the receiver takes its time, or after it has left: no rejection may go unhandled.
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
