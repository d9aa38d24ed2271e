import { listener, type OutgoingFile } from '../sync/events.ts';
import { placeOf } from '../words/place.ts';

/** What a small file costs beside its bytes, expressed in bytes: small files take requests, not bandwidth. */
const FILE_WEIGHT = 64 * 1024;

/** The rate is that of so many milliseconds. */
const RATE_WINDOW_MS = 15_000;

/** A file on its way to the platform. */
export interface FileInFlight {
  readonly name: string;
  readonly sizeBytes: number;
  readonly sentBytes: number;
  /** Milliseconds that never go back. */
  readonly beganMs: number;
}

/** How much is to be sent. */
export interface Expected {
  readonly files: number;
  readonly bytes: number;
}

/** How fast it goes. */
export interface Rate {
  readonly bytesPerSecond: number;
  /** Until all that is expected has been sent; `null`: it cannot be told. */
  readonly leftMs: number | null;
}

interface Sample {
  readonly atMs: number;
  readonly bytes: number;
  readonly weight: number;
}

/** Counts what was sent, to the last byte that the connection took. */
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

  /** Files that are done. */
  get files(): number {
    return this.#files;
  }

  /** Bytes that were sent, those in flight included. */
  get bytes(): number {
    return this.#doneBytes + this.inFlightBytes;
  }

  /** Bytes sent of files that are not done yet. */
  get inFlightBytes(): number {
    let bytes = 0;
    for (const { sentBytes } of this.#inFlight.values()) bytes += sentBytes;
    return bytes;
  }

  /** How many files are on their way. */
  get inFlightCount(): number {
    return this.#inFlight.size;
  }

  /** What is on its way, the largest first. */
  get inFlight(): FileInFlight[] {
    return [...this.#inFlight.values()].sort((a, b) => b.sizeBytes - a.sizeBytes);
  }

  /** The largest file on its way. */
  get largest(): FileInFlight | null {
    let largest: FileInFlight | null = null;
    for (const one of this.#inFlight.values())
      if (largest === null || one.sizeBytes > largest.sizeBytes) largest = one;
    return largest;
  }

  /** Follows the attempts to send files. */
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

  /** One more file is done, with so many bytes. */
  done(bytes: number): void {
    this.#files += 1;
    this.#doneBytes += bytes;
  }

  /** Counts from nothing; what is on its way stays so. */
  reset(): void {
    this.#files = 0;
    this.#doneBytes = 0;
    this.#samples = [];
    this.expected = null;
  }

  /** The rate of the last seconds. To be asked several times a second, as each asking is a sample. */
  rate(): Rate {
    const atMs = this.#monotonic();
    const { bytes } = this;
    const now: Sample = { atMs, bytes, weight: bytes + this.#files * FILE_WEIGHT };
    this.#samples = [...this.#samples.filter((one) => one.atMs > atMs - RATE_WINDOW_MS), now];
    const [first = now] = this.#samples;
    const seconds = (atMs - first.atMs) / 1000;
    if (seconds < 0.5) return { bytesPerSecond: 0, leftMs: null };
    const bytesPerSecond = Math.max(0, bytes - first.bytes) / seconds;
    const weightPerSecond = (now.weight - first.weight) / seconds;
    if (this.expected === null || weightPerSecond <= 0) return { bytesPerSecond, leftMs: null };
    const left = this.expected.bytes + this.expected.files * FILE_WEIGHT - now.weight;
    return { bytesPerSecond, leftMs: Math.max(0, (left / weightPerSecond) * 1000) };
  }

  /** How much of what is expected is done, between 0 and 1; `null`: it is not known. */
  get part(): number | null {
    if (this.expected === null) return null;
    const all = this.expected.bytes + this.expected.files * FILE_WEIGHT;
    // What is in flight may have grown since it was counted.
    return all === 0 ? 1 : Math.min(1, (this.bytes + this.#files * FILE_WEIGHT) / all);
  }
}
