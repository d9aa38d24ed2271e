import { basename, dirname, join } from 'node:path';
import type { FSWatcher } from 'chokidar';
import type { Clock } from '../domain/clock.ts';
import { isCrowded, stepsTo } from './path-steps.ts';

/** Watches that are not in place by then are replaced all the same. */
const READY_LIMIT_MS = 10_000;

/** What a `PathWatch` tells. */
export interface PathWatchListener {
  /** One of the files may have been changed or replaced; also told when all watches are in place. */
  readonly hint: () => void;
  /** Something keeps the files from being watched, in the system's words. */
  readonly limited: (reason: string) => void;
}

/** What is to be watched: for chokidar the directories and files, and the entries of directories that matter. */
interface Plan {
  readonly paths: readonly string[];
  readonly entries: ReadonlySet<string>;
  /** Equal plans need no other watches. */
  readonly identity: string;
}

/**
 * Watches single files with chokidar, in whatever way they are replaced: the directories in which the system looks up a
 * name on the way to each file, links on the way included, and the files themselves.
 *
 * A watch of chokidar stays with the directory or file that it was placed on. So `place` has to be called after each hint:
 * it places all watches again when anything on the way is not what it was.
 */
export class PathWatch {
  readonly #clock: Clock;
  readonly #listener: PathWatchListener;
  #watcher: FSWatcher | null = null;
  #placed: string | null = null;
  /** Aborts when the watches are in place. */
  #ready = AbortSignal.abort();
  #isClosed = false;

  constructor(clock: Clock, listener: PathWatchListener) {
    this.#clock = clock;
    this.#listener = listener;
  }

  /** Watches these files, absolute paths, and no others; cheap when nothing on the way to them was replaced. */
  async place(files: readonly string[]): Promise<void> {
    const plan = await planFor(files);
    if (plan.identity === this.#placed) return;
    // Its watches are shared by path: the old ones have to go first.
    await this.#drop();
    const chokidar = await this.#load();
    if (this.#isClosed || chokidar === null) return;
    const { entries } = plan;
    const watched = new Set(plan.paths);
    const watcher = chokidar.watch([...plan.paths], {
      depth: 0,
      ignored: (path) => !watched.has(path) && !entries.has(path),
      ignoreInitial: true,
      followSymlinks: false,
      ignorePermissionErrors: true,
    });
    this.#placed = plan.identity;
    this.#watcher = watcher;
    const { hint, limited } = this.#listener;
    // What happened before the watches were in place was not told of.
    const ready = new AbortController();
    this.#ready = ready.signal;
    watcher.on('ready', () => {
      ready.abort();
      hint();
    });
    watcher.on('all', hint);
    // chokidar passes over events that follow each other closely.
    watcher.on('raw', (kind: string, name: string | null, about: unknown) => {
      const { watchedPath } = about as { readonly watchedPath: string };
      if (name !== null && name !== basename(watchedPath) && !entries.has(join(watchedPath, name))) return;
      // Another file or directory of the same name may have the inode of the one before.
      if (kind === 'rename' && this.#watcher === watcher) this.#placed = null;
      hint();
    });
    watcher.on('error', (error) => {
      limited(error instanceof Error ? error.message : String(error));
    });
  }

  /** Ends it: no watch is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#drop();
  }

  /** Only who watches single files needs it. */
  async #load(): Promise<typeof import('chokidar') | null> {
    try {
      return await import('chokidar');
    } catch (error) {
      // Another version may have been installed over the one that runs.
      this.#listener.limited((error as Error).message);
      return null;
    }
  }

  async #drop(): Promise<void> {
    // One that is closed while it places its watches leaves some of them, and the next would take them for live.
    if (this.#watcher !== null) await this.#clock.sleep(READY_LIMIT_MS, this.#ready);
    await this.#watcher?.close();
    this.#watcher = null;
    this.#placed = null;
  }
}

async function planFor(files: readonly string[]): Promise<Plan> {
  const steps = await Promise.all(files.map(stepsTo));
  const entries = new Set(steps.flatMap((one) => [...one.entries]));
  const targets = new Set(steps.flatMap((one) => [...one.targets]));
  const paths = new Set<string>();
  for (const directory of new Set(steps.flatMap((one) => [...one.directories]))) {
    // chokidar reads a directory at each event: what matters in a large one is watched by itself, and so it is in the root,
    // since chokidar takes the root for gone after its first reading, and drops the watches of all below it.
    if (dirname(directory) !== directory && !(await isCrowded(directory))) paths.add(directory);
    else for (const entry of targets) if (dirname(entry) === directory) paths.add(entry);
  }
  const identity = [...steps.map((one) => one.identity), ...[...paths].sort()].join('\n');
  return { paths: [...paths], entries, identity };
}
