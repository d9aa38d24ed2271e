import { watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';
import { stepsTo } from './path-steps.ts';
import { watchFailureOf } from './watch-failure.ts';

/** What a `PathWatch` tells. */
export interface PathWatchListener {
  /** One of the files may have been changed or replaced; also told when all watches are in place. */
  readonly hint: () => void;
  /** Something keeps the files from being watched, in the system's words. */
  readonly limited: (reason: string) => void;
}

/** What is to be watched. */
interface Plan {
  /** For each directory or file to watch, the names in its events that matter: its entries on the way, and its own. */
  readonly watches: ReadonlyMap<string, ReadonlySet<string>>;
  /** Equal plans need no other watches. */
  readonly identity: string;
}

/**
 * Watches single files, in whatever way they are replaced: the directories in which the system looks up a name on the way
 * to each file, links on the way included, and the files themselves. Of the other entries of these directories, which may
 * be as busy as `/tmp`, nothing is read: an event has the name of its entry.
 *
 * A watch stays with the directory or file that it was placed on. So `place` has to be called after each hint: it places
 * all watches again when anything on the way is not what it was.
 */
export class PathWatch {
  readonly #listener: PathWatchListener;
  #watchers: FSWatcher[] = [];
  #placed: string | null = null;
  #isClosed = false;

  constructor(listener: PathWatchListener) {
    this.#listener = listener;
  }

  /** Watches these files, absolute paths, and no others; cheap when nothing on the way to them was replaced. */
  async place(files: readonly string[]): Promise<void> {
    const { watches, identity } = await planFor(files);
    if (this.#isClosed || identity === this.#placed) return;
    this.#drop();
    this.#placed = identity;
    // What is above comes first: whatever is replaced before its own watch is in place is told of from there.
    for (const [path, names] of watches) this.#watch(path, names);
    // What happened between the plan and the watches was not told of.
    this.#listener.hint();
  }

  /** Ends it: no watch is left. */
  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  #watch(path: string, names: ReadonlySet<string>): void {
    try {
      const watcher = watch(path, (kind, name) => {
        if (name !== null && !names.has(name)) return;
        // Another file or directory of the same name may have the inode of the one before.
        if (kind === 'rename') this.#placed = null;
        this.#listener.hint();
      });
      this.#watchers.push(watcher);
      watcher.on('error', (error) => {
        this.#fail(error);
      });
    } catch (error) {
      this.#fail(error as NodeJS.ErrnoException);
    }
  }

  #fail(error: NodeJS.ErrnoException): void {
    // One that is gone is told of by the directory above; one that may not be listed, by what is below it.
    if (watchFailureOf(error) !== null) this.#listener.limited(error.message);
  }

  #drop(): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
    this.#placed = null;
  }
}

async function planFor(files: readonly string[]): Promise<Plan> {
  const steps = await Promise.all(files.map(stepsTo));
  const watches = new Map<string, Set<string>>();
  const add = (path: string, name: string): void => {
    watches.set(path, (watches.get(path) ?? new Set([basename(path)])).add(name));
  };
  for (const { entries, targets } of steps) {
    for (const entry of entries) add(dirname(entry), basename(entry));
    // A file has other names, and other directories, when there are hard links to it.
    for (const target of targets) add(target, basename(target));
  }
  return { watches, identity: steps.map((one) => one.identity).join('\n') };
}
