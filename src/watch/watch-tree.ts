import { lstatSync } from 'node:fs';
import type { Clock } from '../domain/clock.ts';
import { fingerprintOf } from '../domain/fingerprint.ts';
import { kernelQueue } from './kernel-queue.ts';
import { MOST_PENDING, Settling, temporarySettleMs } from './settling.ts';
import { describeWatchFailure, type WatchFailure } from './watch-failure.ts';
import { WatchedDirectories, type WatchedDirectory } from './watched-directories.ts';

/**
 * What a watcher tells. Paths are relative to the root, `/`-separated, never empty; what they name may be a file, a
 * directory, or gone.
 */
export interface WatchListener {
  /**
   * Something happened to these paths, and they have stood still since for `settleMs` (or waited for `maxDelayMs`):
   * look at them again, and at everything below them. A directory above one may have become a link in the meantime.
   */
  readonly settled: (paths: readonly string[]) => void;
  /** Events were or may have been lost, from `fromMs` on (epoch milliseconds): everything has to be looked at again. */
  readonly lost: (reason: string, fromMs: number) => void;
  /** A limit or an error keeps directories from being watched. Told once, in words for people that say what to do. */
  readonly limited: (message: string) => void;
}

/** What is watched, and how. */
export interface WatchOptions {
  /** Absolute, without links. */
  readonly root: string;
  /** Whether a directory, by its path relative to the root, is left out with all below it. */
  readonly ignoresDirectory: (path: string) => boolean;
  /** So long a path has to be unchanged. */
  readonly settleMs: number;
  /** A path that never stands still is told of after so long. */
  readonly maxDelayMs: number;
  readonly clock: Clock;
  readonly listener: WatchListener;
}

/** A tree that is being watched. */
export interface TreeWatcher {
  /** Resolves when every directory is watched (also when a limit kept some from it): what is scanned from then on misses nothing. */
  readonly ready: Promise<void>;
  /** Directories watched now. */
  readonly watchedDirectories: number;
  /** Paths that wait to settle. */
  readonly pending: number;
  /** Whatever happened until then has been told, epoch milliseconds. */
  readonly toldUntilMs: number;
  /** Ends it: nothing is told afterwards, no watch and no timer is left. */
  readonly close: () => Promise<void>;
}

/**
 * Watches a directory and all below it, but for ignored ones; links are not followed. Never throws for what it finds in
 * the file system: a root that is missing has nothing to be watched, and one that is replaced is not noticed.
 */
export function watchTree(options: WatchOptions): TreeWatcher {
  return new Tree(options);
}

class Tree implements TreeWatcher {
  readonly ready: Promise<void>;
  readonly #options: WatchOptions;
  readonly #stop = new AbortController();
  readonly #settling: Settling;
  readonly #directories: WatchedDirectories;
  readonly #leaveQueue: () => void;
  #becomeReady!: () => void;
  /** Settled while directories were still being found: a new one is told of when all below it is watched, not sooner. */
  readonly #held = new Set<string>();
  #lostReason: string | null = null;
  /** What happened from then on is held back, or was forgotten in a burst, and has not been told; epoch milliseconds. */
  #untoldFromMs: number | null = null;
  #isLimitTold = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    const { root, ignoresDirectory, settleMs, maxDelayMs, clock } = options;
    this.ready = new Promise((resolve) => {
      this.#becomeReady = resolve;
    });
    this.#directories = new WatchedDirectories({
      root,
      ignoresDirectory,
      event: (directory, kind, name) => {
        this.#note(directory, kind, name);
      },
      complete: (failure) => {
        this.#completed(failure);
      },
    });
    this.#settling = new Settling({
      settleMs,
      maxDelayMs,
      clock,
      signal: this.#stop.signal,
      factsOf: (path) => factsOf(this.#directories.absolute(path)),
      settled: (paths) => {
        for (const path of paths) this.#held.add(path);
        this.#untoldFromMs ??= this.#longestWaitBefore(clock.now());
        if (!this.#directories.isIncomplete) this.#tell();
        else if (this.#held.size > MOST_PENDING)
          this.#settling.burst('too many files changed within a short time');
      },
      bursting: () => {
        this.#untoldFromMs ??= this.#longestWaitBefore(clock.now());
        this.#held.clear();
      },
      calm: (reason) => {
        // Directories that came in the burst may not be watched, others' watches may have died: begin again, then tell.
        this.#lostReason = reason;
        this.#directories.watchAll();
      },
    });
    this.#leaveQueue = kernelQueue.join(() => {
      this.#settling.burst('events may have been lost');
    });
    this.#directories.watchAll();
  }

  get watchedDirectories(): number {
    return this.#directories.watched;
  }

  get pending(): number {
    return this.#settling.pending + this.#held.size;
  }

  get toldUntilMs(): number {
    const nowMs = this.#options.clock.now();
    const settlingFromMs = this.#settling.pending > 0 ? this.#longestWaitBefore(nowMs) : nowMs;
    return Math.min(settlingFromMs, this.#untoldFromMs ?? Infinity);
  }

  readonly close = async (): Promise<void> => {
    this.#stop.abort();
    this.#leaveQueue();
    await this.#directories.close();
    this.#becomeReady();
  };

  /**
   * What settles now, or is forgotten, happened no sooner than this; but for what looks temporary and goes on changing,
   * which is no other file under a new name.
   */
  #longestWaitBefore(nowMs: number): number {
    const { settleMs, maxDelayMs } = this.#options;
    return nowMs - Math.max(settleMs + maxDelayMs, temporarySettleMs(settleMs));
  }

  /**
   * An event names an entry of the directory. It may also be about the directory itself and then carries its name,
   * which an entry of it may have as well; so both are looked at.
   */
  #note(directory: WatchedDirectory, kind: string, name: string | null): void {
    kernelQueue.count();
    const path = this.#directories.pathOf(directory);
    if (name === null) {
      if (path === '') this.#settling.burst('an event had no name');
      else this.#settling.touch(path);
      return;
    }
    const entry = path === '' ? name : `${path}/${name}`;
    if (!this.#settling.isBursting) this.#follow(directory, kind, name, path);
    this.#settling.touch(entry);
  }

  /**
   * Has the watches follow the directories. `rename` is any coming and going; on Linux it is also what happens to a
   * directory's permissions, which elsewhere is a `change`. It does not say which, and a new directory may well have the
   * inode of the one it replaces.
   */
  #follow(directory: WatchedDirectory, kind: string, name: string, path: string): void {
    if (kind !== 'rename') {
      this.#directories.retry(directory, name);
      return;
    }
    // Deletions and moves are told to the parent as well; that something was mounted away here is not.
    if (name === directory.name && directory.parent !== null && this.#directories.isReplaced(directory)) {
      this.#directories.renew(directory.parent, name);
      this.#settling.touch(path);
    }
    this.#directories.renew(directory, name);
  }

  /** All directories are watched, as far as possible: what was held back can be told. */
  #completed(failure: WatchFailure | null): void {
    this.#becomeReady();
    if (failure !== null && !this.#isLimitTold) {
      this.#isLimitTold = true;
      const { found, watched } = this.#directories;
      this.#options.listener.limited(describeWatchFailure(failure, this.#options.root, found, watched));
    }
    this.#tell();
  }

  #tell(): void {
    const lostReason = this.#lostReason;
    const paths = [...this.#held];
    const fromMs = this.#untoldFromMs ?? this.#options.clock.now();
    this.#lostReason = null;
    this.#held.clear();
    if (!this.#settling.isBursting) this.#untoldFromMs = null;
    if (lostReason !== null) this.#options.listener.lost(lostReason, fromMs);
    else if (paths.length > 0) this.#options.listener.settled(paths);
  }
}

/** A path's size, mtime, ctime and inode, or what keeps them from being known. */
function factsOf(path: string): string {
  try {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? 'absent' : fingerprintOf(stats);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}
