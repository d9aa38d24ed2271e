import { lstatSync, opendirSync, watch, type Dir, type Dirent, type FSWatcher, type Stats } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { watchFailureOf, type WatchFailure } from './watch-failure.ts';

/** Others get their turn after so much work; the unit is an entry of a directory, some microseconds. */
const WORK_A_TURN = 2000;

/** What placing a watch costs, in the same unit. */
const WORK_A_DIRECTORY = 20;

/** What the tree of watches needs from outside. */
export interface WatchedDirectoriesOptions {
  /** Absolute, without links. */
  readonly root: string;
  /** Whether a directory, by its path relative to the root, is left out with all below it. */
  readonly ignoresDirectory: (path: string) => boolean;
  /** An event, as the system tells it; `name` is an entry of the directory, its own name, or unknown. */
  readonly event: (directory: WatchedDirectory, kind: string, name: string | null) => void;
  /** All directories that are there are watched now; or some are not, for a reason of which the first is told. */
  readonly complete: (failure: WatchFailure | null) => void;
}

/** A directory that is watched, or would be if it could. */
export interface WatchedDirectory {
  readonly parent: WatchedDirectory | null;
  readonly name: string;
  /** Of the directory that was found when the watch was placed. */
  readonly inode: string;
  children: Map<string, WatchedDirectory> | null;
  handle: FSWatcher | null;
  isDropped: boolean;
}

/**
 * One watch for each directory of a tree.
 *
 * A directory is watched first and listed then, so that an entry is either listed or told of by an event. A watch
 * belongs to the directory that was found at its path: when that one is moved or deleted the watch goes with it, or
 * dies. So whenever an entry of that name comes or goes, all watches at and below it are dropped and placed again.
 */
export class WatchedDirectories {
  readonly #options: WatchedDirectoriesOptions;
  readonly #prefix: string;
  #root: WatchedDirectory | null = null;
  /** Directories whose entries are still to be listed; the higher ones first, since a limit should hit the lower. */
  #unlisted: WatchedDirectory[] = [];
  #listing: Promise<void> | null = null;
  #watched = 0;
  #found = 0;
  /** The first since directories began to be looked for. */
  #failure: WatchFailure | null = null;
  #isClosed = false;

  constructor(options: WatchedDirectoriesOptions) {
    this.#options = options;
    this.#prefix = options.root.endsWith('/') ? options.root : `${options.root}/`;
  }

  /** Watches that are in place. */
  get watched(): number {
    return this.#watched;
  }

  /** Directories that are to be watched, as far as they are known. */
  get found(): number {
    return this.#found;
  }

  /** Whether directories are still being looked for. */
  get isIncomplete(): boolean {
    return this.#listing !== null;
  }

  /** Drops all watches and places them again; `complete` is told at the end. */
  watchAll(): void {
    if (this.#root !== null) this.#drop(this.#root);
    this.#root = this.#adopt(null, '');
    this.#list();
  }

  /** A path relative to the root, `/`-separated; the root's own is empty. */
  pathOf(directory: WatchedDirectory): string {
    let path = directory.name;
    for (let above = directory.parent; above !== null && above.parent !== null; above = above.parent) {
      path = `${above.name}/${path}`;
    }
    return path;
  }

  /** The absolute path of a relative one. */
  absolute(path: string): string {
    return path === '' ? this.#options.root : this.#prefix + path;
  }

  /** Looks at an entry of a directory that came, went or was replaced. */
  renew(parent: WatchedDirectory, name: string): void {
    if (parent.isDropped) return;
    const known = parent.children?.get(name);
    if (known !== undefined) this.#drop(known);
    if (this.#adopt(parent, name) !== null) this.#list();
  }

  /** Looks again at a directory that could not be watched; its permissions may have been changed. */
  retry(parent: WatchedDirectory, name: string): void {
    const known = parent.children?.get(name);
    if (known?.handle === null) this.renew(parent, name);
  }

  /** Whether a directory's path leads to another directory now, or to none. */
  isReplaced(directory: WatchedDirectory): boolean {
    const stats = this.#statDirectory(this.pathOf(directory));
    return stats === null || inodeOf(stats) !== directory.inode;
  }

  /** Drops all watches; nothing is told afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#root !== null) this.#drop(this.#root);
    await this.#listing;
  }

  #adopt(parent: WatchedDirectory | null, name: string): WatchedDirectory | null {
    const above = parent === null ? '' : this.pathOf(parent);
    const path = above === '' ? name : `${above}/${name}`;
    const stats = this.#statDirectory(path);
    if (stats === null || (path !== '' && this.#options.ignoresDirectory(path))) return null;
    const directory: WatchedDirectory = {
      parent,
      name,
      inode: inodeOf(stats),
      children: null,
      handle: null,
      isDropped: false,
    };
    if (parent !== null) (parent.children ??= new Map()).set(name, directory);
    this.#found += 1;
    this.#place(directory, this.absolute(path));
    this.#unlisted.push(directory);
    return directory;
  }

  #place(directory: WatchedDirectory, path: string): void {
    // Each further attempt would fail alike. The directories are still listed, to know how many watches are needed.
    if (this.#failure !== null && this.#failure.kind !== 'other') return;
    try {
      directory.handle = watch(path, (kind, name) => {
        this.#options.event(directory, kind, name);
      });
    } catch (error) {
      this.#failure ??= watchFailureOf(error as NodeJS.ErrnoException);
      return;
    }
    this.#watched += 1;
    directory.handle.on('error', (error) => {
      this.#failure ??= watchFailureOf(error);
      this.#unwatch(directory);
      this.#list();
    });
  }

  #unwatch(directory: WatchedDirectory): void {
    if (directory.handle === null) return;
    directory.handle.close();
    directory.handle = null;
    this.#watched -= 1;
  }

  #drop(directory: WatchedDirectory): void {
    directory.isDropped = true;
    this.#found -= 1;
    this.#unwatch(directory);
    directory.parent?.children?.delete(directory.name);
    for (const child of directory.children?.values() ?? []) this.#drop(child);
  }

  #list(): void {
    this.#listing ??= this.#listAll();
  }

  async #listAll(): Promise<void> {
    // Not in the turn of the event: there may be more of them.
    await turn();
    let work = 0;
    for (let next = 0; next < this.#unlisted.length; next += 1) {
      const directory = this.#unlisted[next];
      if (directory === undefined || directory.isDropped) continue;
      for (const child of this.#entriesOf(directory)) {
        if (child !== null) this.#find(directory, child);
        work += child === null ? 1 : WORK_A_DIRECTORY;
        if (work < WORK_A_TURN) continue;
        work = 0;
        await turn();
      }
    }
    const failure = this.#failure;
    this.#unlisted = [];
    this.#listing = null;
    this.#failure = null;
    if (!this.#isClosed) this.#options.complete(failure);
  }

  /** A directory was listed. An event may have told of it sooner, or that its parent is no more. */
  #find(parent: WatchedDirectory, name: string): void {
    if (!parent.isDropped && parent.children?.has(name) !== true) this.#adopt(parent, name);
  }

  /** The names of a directory's directories, and `null` for each other entry, for the caller to pause. */
  *#entriesOf(directory: WatchedDirectory): Generator<string | null> {
    let entries: Dir;
    try {
      entries = opendirSync(this.absolute(this.pathOf(directory)), { bufferSize: 256 });
    } catch (error) {
      this.#failure ??= watchFailureOf(error as NodeJS.ErrnoException);
      return;
    }
    try {
      for (let entry = this.#next(entries); entry !== null; entry = this.#next(entries)) {
        if (directory.isDropped) return;
        yield entry.isDirectory() ? entry.name : null;
      }
    } finally {
      entries.closeSync();
    }
  }

  #next(entries: Dir): Dirent | null {
    try {
      return entries.readSync();
    } catch (error) {
      this.#failure ??= watchFailureOf(error as NodeJS.ErrnoException);
      return null;
    }
  }

  #statDirectory(path: string): Stats | null {
    try {
      const stats = lstatSync(this.absolute(path), { throwIfNoEntry: false });
      return stats?.isDirectory() === true ? stats : null;
    } catch {
      // A directory above it cannot be searched: as good as gone.
      return null;
    }
  }
}

function inodeOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}
