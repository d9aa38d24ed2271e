import { lstatSync, opendirSync, watch, type Dir, type Dirent, type FSWatcher, type Stats } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { watchFailureOf, type WatchFailure } from './watch-failure.ts';

/** After this much work other tasks get a turn. The unit is one directory entry, some microseconds. */
const WORK_A_TURN = 2000;

/** The cost of placing a watch, in the same unit. */
const WORK_A_DIRECTORY = 20;

export interface WatchedDirectoriesOptions {
  readonly root: string;
  /** Returns whether a directory (path relative to the root) and everything below it is ignored. */
  readonly ignoresDirectory: (path: string) => boolean;
  /** Called for each event of the system. `name` is an entry of the directory, the directory's own name, or unknown. */
  readonly event: (directory: WatchedDirectory, kind: string, name: string | null) => void;
  /** Called when all existing directories are watched, or with the first reason why some are not. */
  readonly complete: (failure: WatchFailure | null) => void;
}

/** A directory that is watched, or could not be. */
export interface WatchedDirectory {
  readonly parent: WatchedDirectory | null;
  readonly name: string;
  /** Device and inode of the directory when the watch was placed. */
  readonly inode: string;
  children: Map<string, WatchedDirectory> | null;
  handle: FSWatcher | null;
  isDropped: boolean;
}

/**
 * Places one watch for each directory of a tree.
 *
 * A directory is watched before it is listed, so that each entry is either listed or reported by an event. A watch
 * belongs to the directory that was found at its path: it moves with that directory, or ends with it. So whenever an
 * entry of that name is created, deleted or moved, all watches at and below it are dropped and placed again.
 */
export class WatchedDirectories {
  readonly #options: WatchedDirectoriesOptions;
  readonly #prefix: string;
  #root: WatchedDirectory | null = null;
  /** Directories that must still be listed. Higher ones come first, because a limit should hit the lower ones. */
  #unlisted: WatchedDirectory[] = [];
  #listing: Promise<void> | null = null;
  #watched = 0;
  #found = 0;
  /** The first failure of the listing that is running. */
  #failure: WatchFailure | null = null;
  #isClosed = false;

  constructor(options: WatchedDirectoriesOptions) {
    this.#options = options;
    this.#prefix = options.root.endsWith('/') ? options.root : `${options.root}/`;
  }

  /** Number of watches in place. */
  get watched(): number {
    return this.#watched;
  }

  /** Number of directories that should be watched, as far as known. */
  get found(): number {
    return this.#found;
  }

  /** Directories are still being listed. */
  get isIncomplete(): boolean {
    return this.#listing !== null;
  }

  /** Drops all watches and places them again; `complete` is called at the end. */
  watchAll(): void {
    if (this.#root !== null) this.#drop(this.#root);
    this.#root = this.#adopt(null, '');
    this.#list();
  }

  /** Returns the path relative to the root, `/`-separated; empty for the root. */
  pathOf(directory: WatchedDirectory): string {
    let path = directory.name;
    for (let above = directory.parent; above !== null && above.parent !== null; above = above.parent) {
      path = `${above.name}/${path}`;
    }
    return path;
  }

  absolute(path: string): string {
    return path === '' ? this.#options.root : this.#prefix + path;
  }

  /** Drops the watches at and below an entry that was created, deleted or replaced, and places them again. */
  renew(parent: WatchedDirectory, name: string): void {
    if (parent.isDropped) return;
    const known = parent.children?.get(name);
    if (known !== undefined) this.#drop(known);
    if (this.#adopt(parent, name) !== null) this.#list();
  }

  /** Retries a directory that could not be watched: its permissions may have changed. */
  retry(parent: WatchedDirectory, name: string): void {
    const known = parent.children?.get(name);
    if (known?.handle === null) this.renew(parent, name);
  }

  /** Returns whether the path of a directory now leads to another directory or to none. */
  isReplaced(directory: WatchedDirectory): boolean {
    const stats = this.#statDirectory(this.pathOf(directory));
    return stats === null || inodeOf(stats) !== directory.inode;
  }

  /** Drops all watches; no callback is called afterwards. */
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
    // Further attempts would fail as well. The directories are still listed, to count the watches that are needed.
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
    // In a later turn, because more events may follow in this one.
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

  /** An event may have added the directory sooner, or dropped its parent. */
  #find(parent: WatchedDirectory, name: string): void {
    if (!parent.isDropped && parent.children?.has(name) !== true) this.#adopt(parent, name);
  }

  /** Yields the name of each subdirectory, and `null` for each other entry, so that the caller can pause. */
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
      // A parent cannot be searched: counts as missing.
      return null;
    }
  }
}

function inodeOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}
