import { lstatSync, readFileSync } from 'node:fs';
import type { Clock } from '../domain/clock.ts';
import { fingerprintOf } from '../domain/fingerprint.ts';
import { MOST_PENDING, Settling, temporarySettleMs } from './settling.ts';
import { describeWatchFailure, type WatchFailure } from './watch-failure.ts';
import { WatchedDirectories, type WatchedDirectory } from './watched-directories.ts';

/**
 * Paths are relative to the root, `/`-separated, never empty. A path may name a file, a directory, or nothing any more.
 */
export interface WatchListener {
  /**
   * Called with paths that changed and were then unchanged for `settleMs` (or waited for `maxDelayMs`): they and
   * everything below them must be scanned. A directory above a path may have become a link in the meantime.
   */
  readonly settled: (paths: readonly string[]) => void;
  /** Called when events were or may have been lost since `fromMs` (epoch milliseconds): everything must be scanned. */
  readonly lost: (reason: string, fromMs: number) => void;
  /**
   * Called at most once, when a limit or an error prevents the watching of directories. The message says what to do.
   */
  readonly limited: (message: string) => void;
}

export interface WatchOptions {
  readonly root: string;
  /** Returns whether a directory (path relative to the root) and everything below it is ignored. */
  readonly ignoresDirectory: (path: string) => boolean;
  /** How long a path must be unchanged. */
  readonly settleMs: number;
  /** After this time a path is reported even if it keeps changing. */
  readonly maxDelayMs: number;
  readonly clock: Clock;
  readonly listener: WatchListener;
}

/** The kernel queues 16,384 events by default; further events are lost, and Node does not report it. */
const MOST_EVENTS_A_TURN = 4000;

/**
 * Notices that the kernel's queue of events may have overflowed. A turn of the event loop empties the queue, so a turn
 * with thousands of events found the queue well filled.
 *
 * All watches of a process share one queue: when it overflows, every tree may have lost events, also a tree that
 * received none.
 */
class KernelQueue {
  readonly #listeners = new Set<() => void>();
  #events = 0;
  #limit: number | null = null;

  /** Calls the listener whenever the queue may have overflowed; returns a function that unsubscribes it. */
  join(listener: () => void): () => void {
    this.#limit ??= eventsAllowed();
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Counts an event of any tree. */
  count(): void {
    if (this.#events === 0) {
      setImmediate(() => {
        this.#events = 0;
      });
    }
    this.#events += 1;
    if (this.#events === this.#limit) for (const listener of this.#listeners) listener();
  }
}

function eventsAllowed(): number {
  try {
    const queued = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
    return Math.max(1, Math.min(MOST_EVENTS_A_TURN, Math.floor(queued / 4)));
  } catch {
    // On other systems the length of the queue is unknown.
    return MOST_EVENTS_A_TURN;
  }
}

const kernelQueue = new KernelQueue();

/**
 * Watches a directory and everything below it except ignored directories; does not follow links. Never throws for the
 * state of the file system: of a missing root nothing is watched, and a replaced root is not noticed.
 */
export class TreeWatcher {
  /**
   * Resolves when every directory is watched, or a limit prevented it: a scan that begins afterwards misses nothing.
   */
  readonly ready: Promise<void>;
  readonly #options: WatchOptions;
  readonly #stop = new AbortController();
  readonly #settling: Settling;
  readonly #directories: WatchedDirectories;
  readonly #leaveQueue: () => void;
  #becomeReady!: () => void;
  /**
   * Paths that settled while directories were still being listed. A new directory is reported only when everything
   * below it is watched.
   */
  readonly #held = new Set<string>();
  #lostReason: string | null = null;
  /** Events since then are held back, or were forgotten in a burst, and have not been reported; epoch milliseconds. */
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
        // Directories created in the burst may not be watched, and watches of others may be dead: places all watches
        // again, then reports.
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

  /** Everything that happened until this time was reported, epoch milliseconds. */
  get reportedUntilMs(): number {
    const nowMs = this.#options.clock.now();
    const settlingFromMs = this.#settling.pending > 0 ? this.#longestWaitBefore(nowMs) : nowMs;
    return Math.min(settlingFromMs, this.#untoldFromMs ?? Infinity);
  }

  /** Ends the watching: no callback is called afterwards, no watch and no timer is left. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#leaveQueue();
    await this.#directories.close();
    this.#becomeReady();
  }

  /**
   * Returns a time before every event whose path settles or is forgotten now. Paths that look temporary and keep
   * changing may be older, but no rename of another file is among them.
   */
  #longestWaitBefore(nowMs: number): number {
    const { settleMs, maxDelayMs } = this.#options;
    return nowMs - Math.max(settleMs + maxDelayMs, temporarySettleMs(settleMs));
  }

  /**
   * An event names an entry of the directory. An event about the directory itself carries the directory's own name,
   * which an entry may have as well; so both are checked.
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
   * Updates the watches. `rename` means that an entry was created, deleted or moved; on Linux also that a directory's
   * permissions changed, which elsewhere is a `change`. The event does not say which, and a new directory may have the
   * inode of the one it replaces.
   */
  #follow(directory: WatchedDirectory, kind: string, name: string, path: string): void {
    if (kind !== 'rename') {
      this.#directories.retry(directory, name);
      return;
    }
    // The parent reports deletions and moves as well, but not that something was unmounted here.
    if (name === directory.name && directory.parent !== null && this.#directories.isReplaced(directory)) {
      this.#directories.renew(directory.parent, name);
      this.#settling.touch(path);
    }
    this.#directories.renew(directory, name);
  }

  /** Called when all directories are watched, as far as possible: reports what was held back. */
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

/** Returns size, mtime, ctime and inode of a path as text, or the code of the error. */
function factsOf(path: string): string {
  try {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? 'absent' : fingerprintOf(stats);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}
