import type { Config, SourceConfig } from '../../config/config.ts';
import type { Clock } from '../../domain/clock.ts';
import { DISK, type Disk } from '../../files/disk.ts';
import { TreeWatcher } from '../../files/watch-tree.ts';
import { identityOf, isSameDirectory } from '../sources/directory-identity.ts';
import { mountsBelow } from '../sources/mounts.ts';
import type { FoundSource, Source } from '../sources/source.ts';

export interface SourceListener {
  readonly settled: (source: string, paths: readonly string[]) => void;
  /** Events may have been lost since `fromMs` (epoch milliseconds), so that everything must be rescanned. */
  readonly lost: (source: string, reason: string, fromMs: number) => void;
  /** A part of the source is not watched. */
  readonly limited: (source: string, message: string) => void;
}

/** Watches one source, across deletions and replacements of its directory. */
export class SourceWatch {
  readonly #settings: Config['watch'];
  readonly #madeFor: string;
  readonly #clock: Clock;
  readonly #listener: SourceListener;
  readonly #name: string;
  #found: FoundSource;
  #watcher: TreeWatcher | null = null;
  /** The watched inode, which cannot be reused while it is watched; `null`: unknown, or nothing is watched. */
  #watchedInode: bigint | null = null;
  #meeting: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(found: FoundSource, config: Config, clock: Clock, listener: SourceListener) {
    this.#found = found;
    this.#settings = config.watch;
    this.#madeFor = whatMatters(config, found.config);
    this.#clock = clock;
    this.#listener = listener;
    this.#name = found.config.name;
    this.#watch();
  }

  /** Returns whether the watch fits a source of another configuration. */
  watchesFor(config: Config, source: SourceConfig): boolean {
    return whatMatters(config, source) === this.#madeFor;
  }

  get found(): FoundSource {
    return this.#found;
  }

  get watchedDirectories(): number {
    return this.#watcher?.watchedDirectories ?? 0;
  }

  /** The time up to which all events have been reported, epoch milliseconds. */
  get reportedUntilMs(): number {
    return this.#watcher?.reportedUntilMs ?? this.#clock.now();
  }

  /** Resolves when every directory is watched. */
  async ready(): Promise<void> {
    await this.#watcher?.ready;
  }

  /** The directory is not the watched one, or has appeared or disappeared. */
  get isReplaced(): boolean {
    const known = this.#found.kind === 'found' ? this.#found.source.identity : null;
    try {
      const facts = this.#disk.stat(this.#found.config.directory);
      if (known === null || !facts.isDirectory()) return (known === null) === facts.isDirectory();
      return this.#isOther(facts.ino) || !isSameDirectory(identityOf(facts, true), known);
    } catch {
      return known !== null;
    }
  }

  get #disk(): Disk {
    return this.#found.kind === 'found' ? this.#found.source.disk : DISK;
  }

  /**
   * Returns whether another inode than this is watched, also where the inode is not part of the directory's identity.
   */
  #isOther(inode: bigint | null): boolean {
    return this.#watchedInode !== null && inode !== this.#watchedInode;
  }

  /** A file system was mounted or unmounted below the directory, which causes no event. */
  get isMountedOtherwise(): boolean {
    if (this.#found.kind === 'missing') return false;
    const { source } = this.#found;
    return mountsBelow(source).join('\0') !== source.mounts.join('\0');
  }

  /**
   * Takes the source as found now. Watches it again if the directory, its ignored files or its mounts are different.
   * Resolves once it is watched; returns whether anything was different.
   */
  meet(found: FoundSource): Promise<boolean> {
    const met = this.#meeting.then(() => this.#meet(found));
    // Calls run one after the other, because each may create a watcher.
    this.#meeting = met.catch(() => false);
    return met;
  }

  async #meet(found: FoundSource): Promise<boolean> {
    const before = this.#found;
    this.#found = found;
    const isSame =
      before.kind === 'found' &&
      found.kind === 'found' &&
      !this.#isOther(inodeOf(found.source)) &&
      isSameDirectory(before.source.identity, found.source.identity) &&
      before.source.patterns === found.source.patterns &&
      before.source.mounts.join('\0') === found.source.mounts.join('\0');
    if (isSame || (before.kind === 'missing' && found.kind === 'missing')) return false;
    await this.#watcher?.close();
    this.#watch();
    await this.ready();
    return true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#meeting;
    await this.#watcher?.close();
    this.#watcher = null;
  }

  #watch(): void {
    this.#watcher = null;
    this.#watchedInode = null;
    if (this.#found.kind === 'missing' || this.#settings.poll || this.#isClosed) return;
    const { realRoot, filter } = this.#found.source;
    this.#watchedInode = inodeOf(this.#found.source);
    const { settleMs, maxDelayMs } = this.#settings;
    const name = this.#name;
    this.#watcher = new TreeWatcher({
      root: realRoot,
      ignoresDirectory: (path) => filter.ignores(path, true),
      settleMs,
      maxDelayMs,
      clock: this.#clock,
      listener: {
        settled: (paths) => {
          this.#listener.settled(name, paths);
        },
        lost: (reason, fromMs) => {
          this.#listener.lost(name, reason, fromMs);
        },
        limited: (message) => {
          this.#listener.limited(name, message);
        },
      },
    });
  }
}

function inodeOf({ disk, root }: Source): bigint | null {
  try {
    return disk.stat(root).ino;
  } catch {
    return null;
  }
}

function whatMatters({ watch, stateFile, file }: Config, { directory, ignore }: SourceConfig): string {
  return JSON.stringify([watch, stateFile, file, directory, ignore]);
}
