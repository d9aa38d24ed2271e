import type { RelativePath } from '../../domain/brands.ts';
import type { Clock } from '../../domain/clock.ts';
import { legiblePart } from '../../domain/hint.ts';
import { Bell } from '../../service/bell.ts';
import type { SyncContext } from '../pass/sync-context.ts';
import { isDirectory, rescanPath } from './rescan-path.ts';
import { RescanQueue, type QueuedRescan } from './rescan-queue.ts';
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
          else await rescanPath(source, path, syncContext, fresh, syncContext.fresh);
        }),
        this.#take(this.#bulk, this.#bulkBell, syncContext, (_look, source, path) =>
          rescanPath(source, path, syncContext, bulk, syncContext.bulk),
        ),
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
