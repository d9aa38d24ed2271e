import type { Config, SourceConfig } from '../../config/config.ts';
import type { Clock } from '../../domain/clock.ts';
import { DISK, type Disk } from '../../files/disk.ts';
import { TreeWatcher } from '../../files/watch-tree.ts';
import { identityOf, isSameDirectory } from '../sources/directory-identity.ts';
import { mountsBelow } from '../sources/mounts.ts';
import type { FoundSource, Source } from '../sources/source.ts';

/** What a watched source tells. */
export interface SourceListener {
  /** Paths that changed and have settled. */
  readonly settled: (source: string, paths: readonly string[]) => void;
  /** Something may have been missed from `fromMs` on (epoch milliseconds), so that everything has to be looked at. */
  readonly lost: (source: string, reason: string, fromMs: number) => void;
  /** People should know that some of it is not watched. */
  readonly limited: (source: string, message: string) => void;
}

/** One source under watch, across deletions and replacements of its directory. */
export class SourceWatch {
  readonly #settings: Config['watch'];
  readonly #madeFor: string;
  readonly #clock: Clock;
  readonly #listener: SourceListener;
  readonly #name: string;
  #found: FoundSource;
  #watcher: TreeWatcher | null = null;
  /** The inode under watch, which keeps it from becoming another's; `null`: it was not told, or nothing is watched. */
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

  /** Whether the watch will do for a source of another configuration. */
  watchesFor(config: Config, source: SourceConfig): boolean {
    return whatMatters(config, source) === this.#madeFor;
  }

  /** The source as it was found last. */
  get found(): FoundSource {
    return this.#found;
  }

  /** Directories under watch. */
  get watchedDirectories(): number {
    return this.#watcher?.watchedDirectories ?? 0;
  }

  /** Whatever happened until then has been told, epoch milliseconds. */
  get toldUntilMs(): number {
    return this.#watcher?.toldUntilMs ?? this.#clock.now();
  }

  /** Resolves when every directory is watched. */
  async ready(): Promise<void> {
    await this.#watcher?.ready;
  }

  /** Whether the directory is another one than the one under watch, or has come or gone. */
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

  /** Whether the watch is on another directory: also of one whose inode is not what it is recognised by. */
  #isOther(inode: bigint | null): boolean {
    return this.#watchedInode !== null && inode !== this.#watchedInode;
  }

  /** Whether something was mounted or unmounted below the directory, where events do not tell of it. */
  get isMountedOtherwise(): boolean {
    if (this.#found.kind === 'missing') return false;
    const { source } = this.#found;
    return mountsBelow(source).join('\0') !== source.mounts.join('\0');
  }

  /**
   * Takes the source as it was found now; watches again what is another directory, ignores other files or has other mounts. Resolves when
   * it is watched, to whether anything was different.
   */
  meet(found: FoundSource): Promise<boolean> {
    const met = this.#meeting.then(() => this.#meet(found));
    // One after the other: each may place a watcher of its own.
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

  /** Ends the watch. */
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
