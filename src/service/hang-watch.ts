import { Worker } from 'node:worker_threads';
import { hangCheckMs } from '../domain/hang.ts';

/** What the watching thread is given. */
export interface HangWatchData {
  /** Holds one number, the heartbeats so far. */
  readonly beats: SharedArrayBuffer;
  readonly hangTimeoutMs: number;
}

/** The watching thread has little to do; what it may take, megabytes. */
const LIMITS = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16, stackSizeMb: 1 };

/**
 * Ends this process when its event loop has stood still for too long: calls to a file system that does not answer any
 * more, such as an NFS mount whose server is gone, never return, and keep everything from happening, signals included.
 * A thread of its own looks after the loop, since nothing within it could.
 */
export class HangWatch {
  readonly #worker: Worker;
  readonly #timer: NodeJS.Timeout;

  /**
   * @param thread - the built `hang-watch-thread.ts`.
   * @param failed - told when there is no thread to watch; everything else goes on.
   */
  constructor(thread: URL, hangTimeoutMs: number, failed: (reason: string) => void) {
    const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const counter = new Int32Array(beats);
    const workerData: HangWatchData = { beats, hangTimeoutMs };
    // It gets nothing of our environment: that may hold secrets.
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

  /** Ends the watch. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#worker.terminate();
  }
}
