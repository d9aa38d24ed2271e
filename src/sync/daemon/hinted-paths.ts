import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../domain/clock.ts';
import { isSameLook, type Hint, type HintedPath, type PathLook } from '../../domain/hint.ts';
import { Bell } from '../../service/bell.ts';
import { lookAtPath } from '../sources/presence.ts';
import { IGNORE_FILE } from '../sources/source.ts';
import type { PassSchedule } from './pass-schedule.ts';
import type { Watches } from './watches.ts';

/** So long a path is looked at in vain: clients of NFS believe what they once saw for a minute at most, unless told otherwise. */
const LONGEST_WAIT_MS = 60_000;

/** The first pause between two looks; each is twice as long as the one before, up to the longest. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/** More paths are not waited for one by one: a pass over everything is cheaper then. */
const MOST_WAITING = 2000;

/** So many looks are taken in one go: on a share each may be a question to its server. */
const LOOKS_A_TURN = 50;

/** What waiting for hinted paths needs from outside. */
export interface HintedPathsPorts {
  /** How a path looks from here now; `null`: that cannot be seen. */
  readonly lookAt: (source: string, path: string) => PathLook | null;
  /** Whether a path is none of the source's files, whatever became of it. */
  readonly ignores: (source: string, path: string) => boolean;
  /** The path looks as the other host saw it, or never will: it is to be rescanned. */
  readonly arrived: (source: string, path: string) => void;
  /** All of the source is to be rescanned, and people are told so. */
  readonly everything: (source: string) => void;
  /** All is to be rescanned once more: what was rescanned may not have been what the other host saw. */
  readonly everythingAgain: () => void;
}

/** What hints lead to in a daemon: what its watches' events do. */
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
  /** When it was heard of first, epoch milliseconds. */
  readonly firstMs: number;
  /** By the monotonic clock: when it was heard of last, and when it is rescanned whatever it looks like. */
  readonly heardAtMs: number;
  readonly endsAtMs: number;
  /** When it is looked at next, by the monotonic clock, and the pause after that. */
  nextMs: number;
  pauseMs: number;
}

interface Repetition {
  readonly firstMs: number;
  readonly dueMs: number;
}

/**
 * Paths of which other hosts said that something happened there. A host may see its share as it was a while ago, so each path is
 * looked at until it looks as the other host saw it, and rescanned then; at the latest after a minute.
 */
export class HintedPaths {
  readonly #clock: Clock;
  readonly #ports: HintedPathsPorts;
  readonly #bell = new Bell();
  readonly #waiting = new Map<string, Waiting>();
  /** Sources of which all is rescanned once more, when what is seen of the share cannot be as old as the hint any more. */
  readonly #again = new Map<string, Repetition>();

  constructor(clock: Clock, ports: HintedPathsPorts) {
    this.#clock = clock;
    this.#ports = ports;
  }

  /** Paths that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** When what is still waited for in a source was heard of first, epoch milliseconds; `null`: there is nothing. */
  oldest(source: string): number | null {
    const times = [...this.#waiting.values()].flatMap((one) => (one.source === source ? [one.firstMs] : []));
    const repetition = this.#again.get(source);
    if (repetition !== undefined) times.push(repetition.firstMs);
    return times.length === 0 ? null : Math.min(...times);
  }

  /** A host gave a hint about a source. */
  hear(source: string, hint: Hint): void {
    if (hint.kind === 'everything') this.#everything(source);
    else for (const one of hint.paths) this.#add(source, one);
    this.#bell.ring();
  }

  /** Looks at paths until the signal aborts. What waits then goes on waiting in the next run. */
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
    // Heard of again meanwhile: that hint has its own minute.
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
