import { listener, type OutgoingFile } from '../sync/events.ts';
import { placeOf } from '../words/place.ts';

/** The cost of a small file besides its content, in bytes: small files take requests, not bandwidth. */
const FILE_WEIGHT = 64 * 1024;

/** The rate is averaged over this time, milliseconds. */
const RATE_WINDOW_MS = 15_000;

export interface FileInFlight {
  readonly name: string;
  readonly sizeBytes: number;
  readonly sentBytes: number;
  /** Milliseconds that never go back. */
  readonly beganMs: number;
}

export interface Expected {
  readonly files: number;
  readonly bytes: number;
}

export interface Rate {
  readonly bytesPerSecond: number;
  readonly filesPerSecond: number;
  /** Milliseconds until everything expected has been sent; `null`: unknown. */
  readonly leftMs: number | null;
}

interface Sample {
  readonly atMs: number;
  readonly bytes: number;
  readonly files: number;
  readonly weight: number;
}

/** Counts sent files and bytes, including bytes of files in flight. */
export class TransferTally {
  expected: Expected | null = null;
  #files = 0;
  #doneBytes = 0;
  readonly #inFlight = new Map<OutgoingFile, { -readonly [K in keyof FileInFlight]: FileInFlight[K] }>();
  readonly #monotonic: () => number;
  #samples: Sample[] = [];

  /** @param monotonic - milliseconds that never go back. */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Number of completed files. */
  get files(): number {
    return this.#files;
  }

  /** Sent bytes, including those in flight. */
  get bytes(): number {
    return this.#doneBytes + this.inFlightBytes;
  }

  /** Sent bytes of files that are not complete. */
  get inFlightBytes(): number {
    let bytes = 0;
    for (const { sentBytes } of this.#inFlight.values()) bytes += sentBytes;
    return bytes;
  }

  get inFlightCount(): number {
    return this.#inFlight.size;
  }

  /** Files in flight, the largest first. */
  get inFlight(): FileInFlight[] {
    return [...this.#inFlight.values()].sort((a, b) => b.sizeBytes - a.sizeBytes);
  }

  /** The largest file in flight. */
  get largest(): FileInFlight | null {
    let largest: FileInFlight | null = null;
    for (const one of this.#inFlight.values())
      if (largest === null || one.sizeBytes > largest.sizeBytes) largest = one;
    return largest;
  }

  readonly listener = listener({
    'attempt-began': ({ file }) => {
      const { source, path, sizeBytes } = file;
      const name = placeOf(source, path);
      this.#inFlight.set(file, { name, sizeBytes, sentBytes: 0, beganMs: this.#monotonic() });
    },
    'attempt-progress': ({ file, bytes }) => {
      const own = this.#inFlight.get(file);
      if (own !== undefined) own.sentBytes += bytes;
    },
    'attempt-ended': ({ file }) => {
      this.#inFlight.delete(file);
    },
  });

  /** Counts a completed file of `bytes`. */
  done(bytes: number): void {
    this.#files += 1;
    this.#doneBytes += bytes;
  }

  /** Resets the counts; files in flight stay. */
  reset(): void {
    this.#files = 0;
    this.#doneBytes = 0;
    this.#samples = [];
    this.expected = null;
  }

  /** Returns the rate of the last seconds. Call several times per second, because each call takes a sample. */
  rate(): Rate {
    const atMs = this.#monotonic();
    const { bytes } = this;
    const files = this.#files;
    const now: Sample = { atMs, bytes, files, weight: bytes + files * FILE_WEIGHT };
    this.#samples = [...this.#samples.filter((one) => one.atMs > atMs - RATE_WINDOW_MS), now];
    const [first = now] = this.#samples;
    const seconds = (atMs - first.atMs) / 1000;
    if (seconds < 0.5) return { bytesPerSecond: 0, filesPerSecond: 0, leftMs: null };
    const bytesPerSecond = Math.max(0, bytes - first.bytes) / seconds;
    const filesPerSecond = Math.max(0, files - first.files) / seconds;
    const weightPerSecond = (now.weight - first.weight) / seconds;
    if (this.expected === null || weightPerSecond <= 0)
      return { bytesPerSecond, filesPerSecond, leftMs: null };
    const left = this.expected.bytes + this.expected.files * FILE_WEIGHT - now.weight;
    return { bytesPerSecond, filesPerSecond, leftMs: Math.max(0, (left / weightPerSecond) * 1000) };
  }

  /** The completed part of what is expected, between 0 and 1; `null`: unknown. */
  get part(): number | null {
    if (this.expected === null) return null;
    const all = this.expected.bytes + this.expected.files * FILE_WEIGHT;
    // Files may have grown since they were counted.
    return all === 0 ? 1 : Math.min(1, (this.bytes + this.#files * FILE_WEIGHT) / all);
  }
}
