import type { Pacer } from './pacer.ts';

/** A request body under way. */
export interface OpenContent {
  readonly body: Buffer | AsyncIterable<Buffer>;
  /** Aborted by the caller, or for want of progress. */
  readonly signal: AbortSignal;
  /** Whether want of progress aborts `signal`; if not, the connection has to look after it. */
  readonly watchesProgress: boolean;
  /** Bytes that were handed to the connection so far. */
  readonly sentBytes: () => number;
  readonly close: () => void;
}

/** Content of known size that can be sent, once. */
export interface AbortableContent {
  readonly sizeBytes: number;
  readonly open: (pacer: Pacer, stallTimeoutMs: number, signal: AbortSignal) => OpenContent;
}

/** Content that is in memory. */
export function wholeContent(bytes: Buffer): AbortableContent {
  return {
    sizeBytes: bytes.length,
    open: (pacer, _stallTimeoutMs, signal) => {
      const wait = bytes.length === 0 ? null : pacer.bytes(bytes.length, signal);
      return {
        body: wait === null ? bytes : after(wait, bytes),
        signal,
        watchesProgress: false,
        sentBytes: () => bytes.length,
        close: () => undefined,
      };
    },
  };
}

/** Content that is read while it is sent. What `chunks` throws ends the request. */
export function streamedContent(sizeBytes: number, chunks: AsyncIterable<Buffer>): AbortableContent {
  return {
    sizeBytes,
    open: (pacer, stallTimeoutMs, signal) => {
      const stalled = new AbortController();
      const watch = new StallWatch(stallTimeoutMs, stalled);
      let sent = 0;
      return {
        body: (async function* () {
          for await (const chunk of chunks) {
            const wait = pacer.bytes(chunk.length, signal);
            if (wait !== null) await wait;
            // Only the other side's time counts: reading the disk and waiting for our own limits is no stall.
            watch.start();
            yield chunk;
            watch.stop();
            sent += chunk.length;
          }
          watch.start();
        })(),
        signal: AbortSignal.any([signal, stalled.signal]),
        watchesProgress: true,
        sentBytes: () => sent,
        close: () => {
          watch.stop();
        },
      };
    },
  };
}

async function* after(wait: Promise<void>, bytes: Buffer): AsyncGenerator<Buffer> {
  await wait;
  yield bytes;
}

class StallWatch {
  readonly #timeoutMs: number;
  readonly #stalled: AbortController;
  #timer: NodeJS.Timeout | null = null;

  constructor(timeoutMs: number, stalled: AbortController) {
    this.#timeoutMs = timeoutMs;
    this.#stalled = stalled;
  }

  start(): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.#stalled.abort('no progress within upload.stallTimeout');
    }, this.#timeoutMs);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
