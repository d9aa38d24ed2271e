import type { RelativePath } from '../../domain/key.ts';
import type { Clock } from '../../domain/clock.ts';
import { legiblePart } from '../../domain/hint.ts';
import { emptySummary } from '../../domain/report.ts';
import { Bell } from '../../service/bell.ts';
import { rescanPath } from '../pass/rescan-path.ts';
import type { SyncContext, Transfer, WalkContext } from '../pass/sync-context.ts';
import type { FoundSource, Source } from '../sources/source.ts';
import { together } from './together.ts';
import { Workers } from '../pass/workers.ts';

/** Single files in hand. */
const FILES_AHEAD = 64;

/** Files of bulk work in hand. */
const BULK_FILES_AHEAD = 256;

/** When more than this wait, new files are bulk work: an edit must not wait behind thousands that were copied in. */
const MANY_WAITING = 32;

/**
 * Rescans single paths as soon as they are asked for. What is no fresh change of a single file goes its own way, behind
 * which no such change waits: directories, which may hold any number of files, renewals, and new files in numbers.
 */
export class PathRescans {
  readonly #clock: Clock;
  readonly #fresh = new RescanQueue();
  readonly #freshBell = new Bell();
  readonly #bulk = new RescanQueue();
  readonly #bulkBell = new Bell();
  /** Being walked now. */
  readonly #underWay = new Set<QueuedRescan>();
  readonly #sourceNamed: (name: string) => FoundSource | undefined;
  readonly #tooMany: () => void;

  /**
   * @param sourceNamed - the source as it was found last.
   * @param tooMany - called when so many paths wait that none is remembered any more.
   */
  constructor(clock: Clock, sourceNamed: (name: string) => FoundSource | undefined, tooMany: () => void) {
    this.#clock = clock;
    this.#sourceNamed = sourceNamed;
    this.#tooMany = tooMany;
  }

  /** Paths that wait. */
  get waiting(): number {
    return this.#fresh.size + this.#bulk.size;
  }

  /** When the rescan in a source that is not over longest was asked for, epoch milliseconds; `null`: there is none. */
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

  /** A pass begins: it rescans what is not remembered. */
  passBegins(): void {
    this.#fresh.passBegins();
    this.#bulk.passBegins();
  }

  /** Asks for a rescan of what just changed. */
  want(source: string, path: string): void {
    const legible = legiblePart(path);
    if (legible !== path) {
      // The name is not valid UTF-8, or has this character: its directory tells which.
      if (legible === null) this.#tooMany();
      else this.wantInTime(source, legible);
      return;
    }
    if (this.#fresh.add({ source, path, askedAtMs: this.#clock.now() })) this.#freshBell.ring();
    else this.#tooMany();
  }

  /** Asks for a rescan that is in no hurry. */
  wantInTime(source: string, path: string): void {
    this.#toBulk({ source, path, askedAtMs: this.#clock.now() });
  }

  /** Rescans until the context stops. Throws `StateFileError`; then nothing is running any more. */
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

/** Whether a path of a source is a directory now, which may hold any number of files. */
function isDirectory({ disk, root, symlinks }: Source, path: RelativePath): boolean {
  try {
    return (symlinks === 'skip' ? disk.lstat : disk.stat)(`${root}/${path}`).isDirectory();
  } catch {
    return false;
  }
}

/** A path of a source that is to be rescanned. */
export interface QueuedRescan {
  readonly source: string;
  readonly path: string;
  /** When it was first asked for, epoch milliseconds. */
  readonly askedAtMs: number;
}

/** More is not remembered one by one: a pass over everything is cheaper then. */
const MOST_QUEUED = 10_000;

/** Paths to rescan, each once; the sources take turns. */
export class RescanQueue {
  /** When each path was asked for, by source, oldest first. */
  readonly #paths = new Map<string, Map<string, number>>();
  /** When the oldest of those that are not remembered was asked for, by source. */
  readonly #forgotten = new Map<string, number>();
  #size = 0;

  /** Paths that wait. */
  get size(): number {
    return this.#size;
  }

  /** Adds a path; `false` when there are too many, and none is remembered any more. */
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

  /** Takes the next path, of the source whose turn it is; `null` when none waits. */
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
   * When the path of a source that waits longest was asked for, epoch milliseconds; `null`: none waits. One that is not
   * remembered waits for a pass.
   */
  oldest(source: string): number | null {
    const forgotten = this.#forgotten.get(source);
    if (forgotten !== undefined) return forgotten;
    for (const askedAtMs of this.#paths.get(source)?.values() ?? []) return askedAtMs;
    return null;
  }

  /** A pass begins: what was not remembered waits no longer. */
  passBegins(): void {
    this.#forgotten.clear();
  }
}
