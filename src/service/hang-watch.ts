import { Worker } from 'node:worker_threads';
import { hangCheckMs } from '../domain/hang.ts';

export interface HangWatchData {
  /** Contains one number, the heartbeats so far. */
  readonly beats: SharedArrayBuffer;
  readonly hangTimeoutMs: number;
}

/** Megabytes; the thread needs little. */
const LIMITS = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16, stackSizeMb: 1 };

/**
 * Ends this process when its event loop is blocked for too long: calls to a file system that no longer answers,
 * such as an NFS mount without its server, never return, and block everything, including signals. A separate thread
 * watches the loop.
 */
export class HangWatch {
  readonly #worker: Worker;
  readonly #timer: NodeJS.Timeout;

  /**
   * @param thread - the built `hang-watch-thread.ts`.
   * @param failed - called if there is no thread to watch; the process continues without.
   */
  constructor(thread: URL, hangTimeoutMs: number, failed: (reason: string) => void) {
    const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const counter = new Int32Array(beats);
    const workerData: HangWatchData = { beats, hangTimeoutMs };
    // Our environment may contain secrets.
    this.#worker = new Worker(thread, { workerData, env: {}, execArgv: [], resourceLimits: LIMITS });
    this.#worker.on('error', (error) => {
      failed(error.message);
    });
    this.#worker.unref();
    this.#timer = setInterval(() => {
      Atomics.add(counter, 0, 1);
    }, hangCheckMs(hangTimeoutMs));
    this.#timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#worker.terminate();
  }
}
