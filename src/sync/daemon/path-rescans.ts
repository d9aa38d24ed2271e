import type { RelativePath } from '../../domain/key.ts';
import type { Clock } from '../../domain/clock.ts';
import { legiblePart } from '../../domain/hint.ts';
import { emptySummary } from '../../domain/report.ts';
import { Bell } from '../../service/bell.ts';
import { rescanPath } from '../pass/rescan-path.ts';
import type { SyncContext, Transfer, WalkContext } from '../pass/sync-context.ts';
import type { FoundSource, Source } from '../sources/source.ts';
import { together, Workers } from '../pass/workers.ts';

/** The most fresh changes in progress at a time. */
const FILES_AHEAD = 64;

/** The most files of bulk work in progress at a time. */
const BULK_FILES_AHEAD = 256;

/** When more paths than this wait, new files are bulk work: an edit must not wait behind thousands of copied files. */
const MANY_WAITING = 32;

/**
 * Rescans single paths as soon as they are requested. Fresh changes of single files have their own queue, so that they
 * do not wait behind bulk work: directories (of any number of files), renewals, and many new files at a time.
 */
export class PathRescans {
  readonly #clock: Clock;
  readonly #fresh = new RescanQueue();
  readonly #freshBell = new Bell();
  readonly #bulk = new RescanQueue();
  readonly #bulkBell = new Bell();
  readonly #underWay = new Set<QueuedRescan>();
  readonly #sourceNamed: (name: string) => FoundSource | undefined;
  readonly #tooMany: () => void;

  /**
   * @param sourceNamed - returns a source in its last known state.
   * @param tooMany - called when too many paths wait and all were dropped.
   */
  constructor(clock: Clock, sourceNamed: (name: string) => FoundSource | undefined, tooMany: () => void) {
    this.#clock = clock;
    this.#sourceNamed = sourceNamed;
    this.#tooMany = tooMany;
  }

  get waiting(): number {
    return this.#fresh.size + this.#bulk.size;
  }

  /** Returns when the oldest unfinished rescan in a source was requested, epoch milliseconds; `null`: there is none. */
  oldest(source: string): number | null {
    const underWay = [...this.#underWay].filter((one) => one.source === source);
    const asked = [
      this.#fresh.oldest(source),
      this.#bulk.oldest(source),
      ...underWay.map((one) => one.askedAtMs),
    ];
    const times = asked.filter((time) => time !== null);
    return times.length === 0 ? null : Math.min(...times);
  }

  /** Notes that a pass begins, which rescans the dropped paths. */
  passBegins(): void {
    this.#fresh.passBegins();
    this.#bulk.passBegins();
  }

  /** Requests a rescan of a path that just changed. */
  readonly want = (source: string, path: string): void => {
    const legible = legiblePart(path);
    if (legible !== path) {
      // The name is not valid UTF-8, or contains U+FFFD itself: its directory is rescanned.
      if (legible === null) this.#tooMany();
      else this.wantInTime(source, legible);
      return;
    }
    if (this.#fresh.add({ source, path, askedAtMs: this.#clock.now() })) this.#freshBell.ring();
    else this.#tooMany();
  };

  /** Requests a rescan without urgency. */
  readonly wantInTime = (source: string, path: string): void => {
    this.#toBulk({ source, path, askedAtMs: this.#clock.now() });
  };

  /**
   * Rescans until the context stops.
   *
   * @throws {StateFileError} after all running work has ended.
   */
  async run(syncContext: SyncContext): Promise<void> {
    const { config, state, fail, detach } = syncContext;
    const most = config.upload.concurrency + state.mostAhead;
    const fresh = new Workers(Math.min(FILES_AHEAD, most), fail, detach);
    const bulk = new Workers(Math.min(BULK_FILES_AHEAD, most), fail, detach);
    try {
      await together(syncContext, [
        this.#take(this.#fresh, this.#freshBell, syncContext, async (queued, source, path) => {
          if (isDirectory(source, path) || this.#isOneOfMany(source, path, syncContext)) this.#toBulk(queued);
          else await rescanPath(source, path, walkContext(syncContext, fresh, syncContext.fresh));
        }),
        this.#take(this.#bulk, this.#bulkBell, syncContext, async (_look, source, path) => {
          await rescanPath(source, path, walkContext(syncContext, bulk, syncContext.bulk));
        }),
      ]);
    } finally {
      await fresh.drain();
      await bulk.drain();
    }
    await fresh.idle();
    await bulk.idle();
  }

  #isOneOfMany({ config, syncTarget }: Source, path: RelativePath, { state }: SyncContext): boolean {
    if (this.#fresh.size < MANY_WAITING) return false;
    return state.recordsAt(state.targetId(syncTarget), config.name, path).current === null;
  }

  #toBulk(queued: QueuedRescan): void {
    if (this.#bulk.add(queued)) this.#bulkBell.ring();
    else this.#tooMany();
  }

  async #take(
    queue: RescanQueue,
    bell: Bell,
    { clock, stop }: SyncContext,
    rescan: (one: QueuedRescan, source: Source, path: RelativePath) => Promise<void>,
  ): Promise<void> {
    while (!stop.aborted) {
      const next = queue.take();
      if (next === null) {
        await bell.wait(clock, Infinity, stop);
        continue;
      }
      const found = this.#sourceNamed(next.source);
      if (found?.kind !== 'found') continue;
      this.#underWay.add(next);
      try {
        await rescan(next, found.source, next.path as RelativePath);
      } finally {
        this.#underWay.delete(next);
      }
    }
  }
}

function walkContext(syncContext: SyncContext, workers: Workers, transfer: Transfer): WalkContext {
  const summary = emptySummary();
  return { ...syncContext, summary, transfer, workers, isForced: () => false, retriesFailed: true };
}

/** Returns whether a path of a source is a directory now, which may hold any number of files. */
function isDirectory({ disk, root, symlinks }: Source, path: RelativePath): boolean {
  try {
    return (symlinks === 'skip' ? disk.lstat : disk.stat)(`${root}/${path}`).isDirectory();
  } catch {
    return false;
  }
}

export interface QueuedRescan {
  readonly source: string;
  readonly path: string;
  /** When it was first requested, epoch milliseconds. */
  readonly askedAtMs: number;
}

/** Above this number, paths are dropped: a pass over everything is cheaper. */
const MOST_QUEUED = 10_000;

/** Paths to rescan, without duplicates. The sources take turns. */
export class RescanQueue {
  /** When each path was requested, by source, oldest first. */
  readonly #paths = new Map<string, Map<string, number>>();
  /** When the oldest of the dropped paths was requested, by source. */
  readonly #forgotten = new Map<string, number>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a path. Returns `false` when there were too many, and all were dropped. */
  add({ source, path, askedAtMs }: QueuedRescan): boolean {
    const own = this.#paths.get(source) ?? new Map<string, number>();
    this.#paths.set(source, own);
    if (own.has(path)) return true;
    own.set(path, askedAtMs);
    if (++this.#size <= MOST_QUEUED) return true;
    for (const name of this.#paths.keys()) this.#forgotten.set(name, this.oldest(name) ?? askedAtMs);
    this.#paths.clear();
    this.#size = 0;
    return false;
  }

  /** Takes the next path, of the source whose turn it is; `null`: none waits. */
  take(): QueuedRescan | null {
    for (const [source, paths] of this.#paths) {
      this.#paths.delete(source);
      for (const [path, askedAtMs] of paths) {
        paths.delete(path);
        this.#size -= 1;
        if (paths.size > 0) this.#paths.set(source, paths);
        return { source, path, askedAtMs };
      }
    }
    return null;
  }

  /**
   * Returns when the longest-waiting path of a source was requested, epoch milliseconds; `null`: none waits. Dropped
   * paths wait for a pass.
   */
  oldest(source: string): number | null {
    const forgotten = this.#forgotten.get(source);
    if (forgotten !== undefined) return forgotten;
    for (const askedAtMs of this.#paths.get(source)?.values() ?? []) return askedAtMs;
    return null;
  }

  /** Notes that a pass begins: dropped paths no longer wait. */
  passBegins(): void {
    this.#forgotten.clear();
  }
}
