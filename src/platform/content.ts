import type { OutgoingContent } from '../domain/file-platform.ts';
import type { Pacer } from './pacer.ts';

/** A request body under way. */
export interface OpenContent {
  readonly sizeBytes: number;
  readonly body: Buffer | AsyncIterable<Buffer>;
  /** Aborted by the caller, or for want of progress. */
  readonly signal: AbortSignal;
  /** Whether want of progress aborts `signal`; if not, the connection has to look after it. */
  readonly watchesProgress: boolean;
  /** Bytes that the connection has taken so far. */
  readonly sentBytes: () => number;
  readonly close: () => void;
}

/** Makes a request body of content: paced, counted, and given up when the other side takes nothing any more. */
export function openContent(
  content: OutgoingContent,
  pacer: Pacer,
  stallTimeoutMs: number,
  signal: AbortSignal,
): OpenContent {
  switch (content.kind) {
    case 'whole': {
      const { bytes } = content;
      const wait = pacer.bytes(bytes.length, signal);
      return {
        sizeBytes: bytes.length,
        body: wait === null ? bytes : after(wait, bytes),
        signal,
        watchesProgress: false,
        sentBytes: () => bytes.length,
        close: () => undefined,
      };
    }
    case 'stream': {
      const stalled = new AbortController();
      const watch = new StallWatch(stallTimeoutMs, stalled);
      let sent = 0;
      return {
        sizeBytes: content.sizeBytes,
        body: (async function* () {
          for await (const chunk of content.chunks) {
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
          watch.close();
        },
      };
    }
  }
}

async function* after(wait: Promise<void>, bytes: Buffer): AsyncGenerator<Buffer> {
  await wait;
  yield bytes;
}

class StallWatch {
  readonly #timeoutMs: number;
  readonly #stalled: AbortController;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(timeoutMs: number, stalled: AbortController) {
    this.#timeoutMs = timeoutMs;
    this.#stalled = stalled;
  }

  start(): void {
    this.stop();
    // Content that was broken off may still get as far as its next chunk.
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#stalled.abort('no progress within upload.stallTimeout');
    }, this.#timeoutMs);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  close(): void {
    this.#isClosed = true;
    this.stop();
  }
}
