import type { OutgoingContent } from '../domain/file-catalog.ts';
import type { Fence } from '../domain/lease.ts';
import type { Throughput } from '../domain/throughput.ts';
import type { Pacer } from './pacer.ts';
import type { WatchedBody } from './stall-monitor.ts';

/**
 * Notified whether the next part of a body is being prepared (`ours`) or was handed over (`theirs`). Monotonic
 * milliseconds.
 */
interface TurnWatch {
  readonly turn: (whose: 'ours' | 'theirs', nowMs: number) => void;
}

export interface OpenBody extends WatchedBody {
  readonly content: Buffer | string | AsyncIterable<Buffer> | null;
  /** Bytes that the connection has accepted so far. */
  readonly sentBytes: number;
  /** Set by the sender. */
  watch: TurnWatch | null;
}

/** A body that is complete in memory and is not the content of a file. */
export function plainBody(text: string | null): OpenBody {
  return new WholeBody(text, text === null ? 0 : Buffer.byteLength(text), null);
}

/**
 * Makes a request body of a file's content, paced and counted. The end of what is not sent immediately is sent only if
 * the fence then allows it: without the end the store accepts nothing.
 */
export function contentBody(
  content: OutgoingContent,
  pacer: Pacer,
  throughput: Throughput,
  fence: Fence | null,
  signal: AbortSignal,
): OpenBody {
  const limit = (chunk: Buffer): Promise<void> | null => pacer.bytes(chunk.length, signal);
  const mayEnd = fence === null ? null : (): Promise<void> => untilMayFinish(fence, signal);
  switch (content.kind) {
    case 'whole': {
      const { bytes } = content;
      const wait = limit(bytes);
      if (wait === null) return new WholeBody(bytes, bytes.length, throughput);
      return new ChunkedBody([bytes], bytes.length, () => wait, throughput, mayEnd);
    }
    case 'stream':
      return new ChunkedBody(content.chunks, content.sizeBytes, limit, throughput, mayEnd);
  }
}

/** Waits until the fence allows finishing. Throws if it no longer does. */
async function untilMayFinish(fence: Fence, signal: AbortSignal): Promise<void> {
  if (!fence.mayFinish()) await fence.proven(signal);
  if (!fence.mayFinish()) throw new Error('the lease was not proven in time');
}

/** A body that the connection accepts in one piece. */
class WholeBody implements OpenBody {
  readonly content: Buffer | string | null;
  readonly sizeBytes: number;
  readonly throughput: Throughput | null;
  watch: TurnWatch | null = null;

  constructor(content: Buffer | string | null, sizeBytes: number, throughput: Throughput | null) {
    this.content = content;
    this.sizeBytes = sizeBytes;
    this.throughput = throughput;
  }

  get sentBytes(): number {
    return this.sizeBytes;
  }
}

/** The last bytes of a content are handed to the kernel separately. */
const END_BYTES = 1024;

/**
 * Splits the last chunk in two. A process that was stopped sends on waking what it had not yet handed to the kernel,
 * before any check; a small end is accepted by the kernel immediately.
 */
function withoutEnd(chunk: Buffer): Buffer[] {
  return chunk.length <= END_BYTES ? [chunk] : [chunk.subarray(0, -END_BYTES), chunk.subarray(-END_BYTES)];
}

/**
 * A body that is handed over in chunks. Only the other side's time counts as a stall, not reading the disk or waiting
 * for our own limits.
 */
class ChunkedBody implements OpenBody {
  readonly sizeBytes: number;
  readonly content: AsyncIterable<Buffer>;
  readonly throughput: Throughput;
  watch: TurnWatch | null = null;
  sentBytes = 0;

  constructor(
    chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
    sizeBytes: number,
    limit: (chunk: Buffer) => Promise<void> | null,
    throughput: Throughput,
    mayEnd: (() => Promise<void>) | null,
  ) {
    this.sizeBytes = sizeBytes;
    this.throughput = throughput;
    this.content = this.#handOver(chunks, limit, mayEnd);
  }

  async *#handOver(
    chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
    limit: (chunk: Buffer) => Promise<void> | null,
    mayEnd: (() => Promise<void>) | null,
  ): AsyncGenerator<Buffer> {
    this.watch?.turn('ours', performance.now());
    for await (const chunk of chunks) {
      const wait = limit(chunk);
      if (wait !== null) await wait;
      const isLast = mayEnd !== null && this.sentBytes + chunk.length >= this.sizeBytes;
      for (const part of isLast ? withoutEnd(chunk) : [chunk]) {
        if (isLast && this.sentBytes + part.length >= this.sizeBytes) await mayEnd();
        this.watch?.turn('theirs', performance.now());
        yield part;
        this.watch?.turn('ours', performance.now());
        this.sentBytes += part.length;
      }
    }
    this.watch?.turn('theirs', performance.now());
  }
}
