import { watch } from 'chokidar';
import type { Clock } from '../domain/clock.ts';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { fingerprintOf } from '../domain/fingerprint.ts';

export interface WatchedFilesOptions {
  readonly clock: Clock;
  /** How often size and time of the files are polled, milliseconds of real time. */
  readonly pollMs: number;
  /** How long all files must be unchanged before a change is reported. */
  readonly settleMs: number;
  /** How often contents are compared even if size and time are unchanged. */
  readonly compareMs: number;
  /** Contents that were accepted earlier, by path, as `contentKeyOf` returns them. */
  readonly accepted?: ReadonlyMap<string, string>;
  /** Called with the files whose content is not the accepted one, once it is stable; it counts as accepted then. */
  readonly changed: (files: readonly string[]) => Promise<void>;
}

/**
 * Watches single files and compares their contents with those that were accepted last. They are polled by path, so that it
 * does not matter how a file, a link or a directory on the way to it is replaced.
 */
export class WatchedFiles {
  readonly #options: WatchedFilesOptions;
  #accepted: Map<string, string>;
  #stop: AbortController | null = null;
  #ended: Promise<void> = Promise.resolve();
  /** Ends the current sleep. */
  #wake = new AbortController();

  constructor(options: WatchedFilesOptions) {
    this.#options = options;
    this.#accepted = new Map(options.accepted);
  }

  /** Accepts the current contents. Call it before they are read. */
  async accept(): Promise<void> {
    await this.#acceptAll([...this.#accepted.keys()]);
  }

  /** Replaces the list of files (absolute paths). What new ones contain now is accepted. */
  async follow(files: readonly string[]): Promise<void> {
    const known = this.#accepted;
    this.#accepted = new Map(files.map((file) => [file, known.get(file) ?? '']));
    await this.#acceptAll(files.filter((file) => !known.has(file)));
    this.#wake.abort();
  }

  /** Begins to report changes, including those since the files were accepted. Does nothing if already started. */
  start(): void {
    if (this.#stop !== null) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#ended = this.#ended.then(() => this.#run(stop.signal));
  }

  /** Stops reporting until the next `start`. Must not be awaited within `changed`. */
  async stop(): Promise<void> {
    this.#stop?.abort();
    this.#stop = null;
    this.#wake.abort();
    await this.#ended;
  }

  async #acceptAll(files: readonly string[]): Promise<void> {
    for (const [file, content] of await contentsOf(files))
      if (this.#accepted.has(file)) this.#accepted.set(file, content);
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, pollMs, settleMs, compareMs } = this.#options;
    const watcher = watch([], {
      usePolling: true,
      depth: 0,
      interval: pollMs,
      binaryInterval: pollMs,
    });
    /** chokidar does not poll files that are missing or that it could not read. */
    const polled = new Set<string>();
    watcher.on('all', (event, file) => {
      if (event === 'unlink' || event === 'unlinkDir') polled.delete(file);
      else polled.add(file);
      this.#wake.abort();
    });
    // Every difference that a poll finds: chokidar makes no event of a file with an older date, nor of a second change within 50 ms.
    watcher.on('raw', () => {
      this.#wake.abort();
    });
    watcher.on('error', () => {
      this.#wake.abort();
    });
    let watched: readonly string[] = [];
    try {
      while (!signal.aborted) {
        this.#wake = new AbortController();
        await this.#compare(signal);
        const files = [...this.#accepted.keys()];
        const left = watched.filter((file) => !files.includes(file));
        watcher.unwatch(left);
        for (const file of left) polled.delete(file);
        // Adds also files that chokidar dropped because they were missing. Each one that it adds is an event: a change
        // between the comparison and the first poll is found.
        watcher.add(files);
        watched = files;
        const isEachPolled = files.every((file) => polled.has(file));
        await clock.sleep(isEachPolled ? compareMs : settleMs, AbortSignal.any([signal, this.#wake.signal]));
      }
    } finally {
      await watcher.close();
    }
  }

  /** If contents differ from the accepted ones, waits until they are stable and reports the files that still differ. */
  async #compare(signal: AbortSignal): Promise<void> {
    const { clock, settleMs, changed } = this.#options;
    let before = await contentsOf([...this.#accepted.keys()]);
    while (this.#changedIn(before).length > 0) {
      await clock.sleep(settleMs, signal);
      if (signal.aborted) return;
      const now = await contentsOf([...this.#accepted.keys()]);
      const isStable = [...now].every(([file, content]) => before.get(file) === content);
      before = now;
      if (!isStable) continue;
      const files = this.#changedIn(now);
      for (const file of files) this.#accepted.set(file, now.get(file) ?? MISSING);
      if (files.length > 0) await changed(files);
      return;
    }
  }

  #changedIn(contents: ReadonlyMap<string, string>): string[] {
    return [...contents].flatMap(([file, content]) => {
      const accepted = this.#accepted.get(file);
      return accepted === undefined || accepted === content ? [] : [file];
    });
  }
}

async function contentsOf(files: readonly string[]): Promise<Map<string, string>> {
  return new Map(await Promise.all(files.map(async (file) => [file, await contentKeyOf(file)] as const)));
}

/** Larger files are compared by fingerprint only. */
const LARGEST_READ_BYTES = 4000000n;

/** The content key of a file that does not exist. */
const MISSING = 'ENOENT';

/**
 * Returns a key that is equal for equal content of a small file and reveals nothing of it. A file that cannot be read has
 * one as well: the code of the error. Never throws.
 */
export async function contentKeyOf(path: string): Promise<string> {
  try {
    // Opening a pipe that nobody writes to would block.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat({ bigint: true });
      if (!stats.isFile()) return `not a file: ${stats.mode}`;
      if (stats.size > LARGEST_READ_BYTES) return `${stats.dev} ${fingerprintOf(stats)}`;
      return createHash('sha256')
        .update(await handle.readFile())
        .digest('hex');
    } finally {
      await handle.close();
    }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}
