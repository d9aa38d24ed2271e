import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../domain/clock.ts';
import { isSameLook, type Hint, type HintedPath, type PathLook } from '../../domain/hint.ts';
import { Bell } from '../../service/bell.ts';
import { lookAtPath } from '../sources/presence.ts';
import { IGNORE_FILE } from '../sources/source.ts';
import type { PassSchedule } from './pass-schedule.ts';
import type { Watches } from './watches.ts';

/** The longest wait for a path to look as hinted: by default, NFS clients cache for at most a minute. */
const LONGEST_WAIT_MS = 60_000;

/** The first pause between two checks; each is twice as long as the one before, up to the longest. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/** Above this number, paths are not awaited one by one: a pass over everything is cheaper. */
const MOST_WAITING = 2000;

/** Checks made without a pause: on a share, each may be a request to its server. */
const LOOKS_A_TURN = 50;

export interface HintedPathsPorts {
  /** Returns the path as it looks from this host; `null`: it cannot be checked. */
  readonly lookAt: (source: string, path: string) => PathLook | null;
  /** Returns whether the path is not a file of the source, whatever happened to it. */
  readonly ignores: (source: string, path: string) => boolean;
  /** Called when the path looks as the other host saw it, or never will; rescans it. */
  readonly arrived: (source: string, path: string) => void;
  /** Rescans and reports the whole source. */
  readonly everything: (source: string) => void;
  /** Repeats the rescan of everything: the first one may have seen an outdated state of the share. */
  readonly everythingAgain: () => void;
}

/** Creates `HintedPaths` that act on hints as on events of the daemon's own watches. */
export function hintedPathsFor(clock: Clock, watches: Watches, schedule: PassSchedule): HintedPaths {
  return new HintedPaths(clock, {
    lookAt: (source, path) => {
      const found = watches.found(source);
      return found?.kind === 'found' ? lookAtPath(found.source, path) : null;
    },
    ignores: (source, path) => path !== IGNORE_FILE && watches.ignores(source, path),
    arrived: (source, path) => {
      watches.listener.settled(source, [path]);
    },
    everything: (source) => {
      watches.listener.lost(source, 'much was written on another host', clock.now());
    },
    everythingAgain: () => {
      schedule.want('lost');
    },
  });
}

interface Waiting extends HintedPath {
  readonly source: string;
  /** When the first hint came, epoch milliseconds. */
  readonly firstMs: number;
  /** Monotonic: when the last hint came, and when the path is rescanned at the latest. */
  readonly heardAtMs: number;
  readonly endsAtMs: number;
  /** Monotonic: when the path is checked next; then the pause after that check. */
  nextMs: number;
  pauseMs: number;
}

interface Repetition {
  readonly firstMs: number;
  readonly dueMs: number;
}

/**
 * Paths about which other hosts sent hints. A host may see an outdated state of its share, so each path is checked
 * until it looks as the other host saw it, and then rescanned; after a minute at the latest.
 */
export class HintedPaths {
  readonly #clock: Clock;
  readonly #ports: HintedPathsPorts;
  readonly #bell = new Bell();
  readonly #waiting = new Map<string, Waiting>();
  /** Sources to rescan completely once more, when this host's view of the share can no longer predate the hint. */
  readonly #again = new Map<string, Repetition>();

  constructor(clock: Clock, ports: HintedPathsPorts) {
    this.#clock = clock;
    this.#ports = ports;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Returns when the oldest hint that a source still waits for came, epoch milliseconds; `null`: it waits for none. */
  oldest(source: string): number | null {
    const times = [...this.#waiting.values()].flatMap((one) => (one.source === source ? [one.firstMs] : []));
    const repetition = this.#again.get(source);
    if (repetition !== undefined) times.push(repetition.firstMs);
    return times.length === 0 ? null : Math.min(...times);
  }

  hear(source: string, hint: Hint): void {
    if (hint.kind === 'everything') this.#everything(source);
    else for (const one of hint.paths) this.#add(source, one);
    this.#bell.ring();
  }

  /** Checks waiting paths until the signal aborts. Paths that still wait then do so in the next run. */
  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      await this.#lookAtDue(stop);
      this.#repeatDue();
      await this.#bell.wait(this.#clock, this.#untilNextMs(), stop);
    }
  }

  #add(source: string, { path, look }: HintedPath): void {
    if (this.#ports.ignores(source, path)) return;
    const key = `${source}\0${path}`;
    const known = this.#waiting.get(key);
    const nowMs = this.#clock.monotonic();
    this.#waiting.set(key, {
      ...{ source, path, look, heardAtMs: nowMs, nextMs: nowMs, pauseMs: FIRST_PAUSE_MS },
      firstMs: known?.firstMs ?? this.#clock.now(),
      endsAtMs: known?.endsAtMs ?? nowMs + LONGEST_WAIT_MS,
    });
    if (this.#waiting.size <= MOST_WAITING) return;
    for (const [other, one] of this.#waiting) if (one.source === source) this.#waiting.delete(other);
    this.#everything(source);
  }

  #everything(source: string): void {
    const known = this.#again.get(source);
    if (known === undefined) this.#ports.everything(source);
    else this.#ports.everythingAgain();
    const dueMs = this.#clock.monotonic() + LONGEST_WAIT_MS;
    this.#again.set(source, { firstMs: known?.firstMs ?? this.#clock.now(), dueMs });
  }

  async #lookAtDue(stop: AbortSignal): Promise<void> {
    let looks = 0;
    for (const [key, one] of this.#waiting) {
      const nowMs = this.#clock.monotonic();
      if (one.nextMs > nowMs) continue;
      this.#lookAt(key, one, nowMs);
      if (++looks % LOOKS_A_TURN !== 0) continue;
      await turn();
      if (stop.aborted) return;
    }
  }

  #lookAt(key: string, one: Waiting, nowMs: number): void {
    const { source, path, look, heardAtMs, endsAtMs } = one;
    const here = this.#ports.lookAt(source, path);
    const isThere = here !== null && isSameLook(here, look);
    const isOver = nowMs >= endsAtMs;
    if (isThere || isOver) this.#ports.arrived(source, path);
    const untilMs = heardAtMs + LONGEST_WAIT_MS;
    // A hint that came in the meantime has its own minute.
    if (isThere || (isOver && nowMs >= untilMs)) this.#waiting.delete(key);
    else if (isOver) this.#waiting.set(key, { ...one, endsAtMs: untilMs, firstMs: this.#clock.now() });
    else {
      one.nextMs = Math.min(nowMs + one.pauseMs, endsAtMs);
      one.pauseMs = Math.min(2 * one.pauseMs, LONGEST_PAUSE_MS);
    }
  }

  #repeatDue(): void {
    for (const [source, { dueMs }] of this.#again) {
      if (dueMs > this.#clock.monotonic()) continue;
      this.#again.delete(source);
      this.#ports.everythingAgain();
    }
  }

  #untilNextMs(): number {
    let nextMs = Infinity;
    for (const one of this.#waiting.values()) nextMs = Math.min(nextMs, one.nextMs);
    for (const { dueMs } of this.#again.values()) nextMs = Math.min(nextMs, dueMs);
    return nextMs - this.#clock.monotonic();
  }
}
