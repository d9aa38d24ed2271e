import type { Config } from '../config/config.ts';
import type { RelativePath } from '../domain/brands.ts';
import type { Clock } from '../domain/clock.ts';
import type { FilePlatform } from '../domain/file-platform.ts';
import { emptySummary, type FileEvent } from '../domain/report.ts';
import type { RenewalDue } from '../state/state-reader.ts';
import type { StateStore } from '../state/state-store.ts';
import { Bell } from './bell.ts';
import type { Blockade } from './blockade.ts';
import type { DaemonActivity, DaemonObserver, Trigger } from './daemon-observer.ts';
import { createEngine, type Engine, type Stages } from './engine.ts';
import { isDirectory, lookAt } from './look.ts';
import { LookQueue } from './look-queue.ts';
import { OVERDUE_AFTER_MS } from './overview.ts';
import { removeWhatIsDue, runPass } from './pass.ts';
import { PassSchedule } from './pass-schedule.ts';
import type { Reporter } from './reporter.ts';
import { findSource, IGNORE_FILE, targetOf, type FoundSource } from './source.ts';
import { SourceWatch } from './source-watch.ts';
import { Workers } from './workers.ts';

/** What a reload replaces. */
export interface DaemonSettings {
  readonly config: Config;
  /** What the platform is called in records. */
  readonly platformName: string;
  readonly platform: FilePlatform;
}

/** What a daemon is given. */
export interface DaemonInput {
  readonly state: StateStore;
  readonly clock: Clock;
  /** A number in [0, 1): jitter. */
  readonly random: () => number;
  readonly report: Reporter;
  readonly observer: DaemonObserver;
  readonly stages: Stages;
  /** No new work once it aborts. */
  readonly stop: AbortSignal;
  /** Breaks off what is under way. */
  readonly abort: AbortSignal;
}

/** How often directories and due dates are looked at, milliseconds. */
const TICK_MS = 2000;

/** What could not be renewed or removed when it was due is looked at again after so long, milliseconds. */
const DUE_AGAIN_MS = 60_000;

/** Single files in hand. */
const LOOKS_AHEAD = 64;

/** Files of changed directories in hand. */
const FILES_AHEAD = 256;

/**
 * Keeps the platform up to date for as long as it runs: passes over everything at the start and now and then, looks at
 * single paths as soon as they change, renewals and removals when they are due. Every trigger ends in the same walk.
 */
export class Daemon {
  readonly #input: DaemonInput;
  readonly #watches = new Map<string, SourceWatch>();
  readonly #looks = new LookQueue();
  readonly #lookBell = new Bell();
  readonly #directories = new LookQueue();
  readonly #directoryBell = new Bell();
  readonly #passes: PassSchedule;
  #settings: DaemonSettings;
  #next: { readonly settings: DaemonSettings; readonly taken: () => void } | null = null;
  #switch = new AbortController();
  #engine: Engine;
  #isPassing = false;
  #passEnded = false;
  #renewalsAgainAtMs = 0;
  #removalsAgainAtMs = 0;
  /** Sources whose removals a guard halted: nothing more of it until the next pass. */
  readonly #heldRemovals = new Set<string>();
  readonly #approved = new Set<string>();

  constructor(settings: DaemonSettings, input: DaemonInput) {
    this.#settings = settings;
    this.#input = input;
    this.#passes = new PassSchedule(input.clock, input.random);
    this.#engine = this.#createEngine();
  }

  /** Runs until it is asked to stop. Throws `StateFileError`; nothing is under way any more then. */
  async run(): Promise<void> {
    const { stop } = this.#input;
    try {
      for (let trigger: Trigger = 'start'; !stop.aborted; trigger = 'reload') {
        await this.#serve(trigger);
        this.#takeNext();
      }
    } finally {
      for (const watch of this.#watches.values()) await watch.close();
      this.#watches.clear();
    }
  }

  /** Goes on under other settings: what is under way ends first. Resolves once they are in use. */
  reload(settings: DaemonSettings): Promise<void> {
    return new Promise((resolve) => {
      // One that was not taken yet is overtaken.
      this.#next?.taken();
      this.#next = { settings, taken: resolve };
      this.#switch.abort();
    });
  }

  /** Lets through, once, what halts a source, or all of them. Returns the names of those it concerns. */
  approve(source: string | null): string[] {
    const halted = this.#settings.config.sources
      .map(({ name }) => name)
      .filter((name) => source === null || name === source)
      .filter((name) => this.#input.state.source(name)?.halted != null);
    for (const name of halted) this.#approved.add(name);
    if (halted.length > 0) this.#passes.want('approved');
    return halted;
  }

  /** What keeps the daemon from being of full service now; empty when nothing does. */
  get impediments(): string[] {
    const { state } = this.#input;
    const halted = this.#settings.config.sources.flatMap(({ name }) => {
      const reason = state.source(name)?.halted ?? null;
      return reason === null ? [] : [`${name} is halted: ${reason}`];
    });
    const refused = this.#engine.round.blockade.refusal;
    return [
      ...(this.#passEnded ? [] : ['the first pass is not over']),
      ...(refused === null ? [] : [`the platform refuses the credentials: ${refused}`]),
      ...halted,
    ];
  }

  /** How it stands, for people and programs that ask. */
  get activity(): DaemonActivity {
    const { blockade } = this.#engine.round;
    return {
      activity: this.#isPassing ? 'pass' : this.#passEnded ? 'watching' : 'starting',
      watchedDirectories: [...this.watchedDirectories.values()].reduce((sum, one) => sum + one, 0),
      queued: this.#looks.size + this.#directories.size,
      sending: this.#engine.flights.count,
      platformOutOfReach: this.#engine.outage.isOn,
      blocked: blockade.refusal ?? blockade.shortage,
    };
  }

  /** Directories under watch, by source. */
  get watchedDirectories(): ReadonlyMap<string, number> {
    return new Map([...this.#watches].map(([name, one]) => [name, one.watchedDirectories]));
  }

  #createEngine(): Engine {
    const { config, platformName, platform } = this.#settings;
    const { stop, ...input } = this.#input;
    this.#switch = new AbortController();
    return createEngine({
      ...input,
      config,
      platformName,
      platform,
      patience: { outageMs: Infinity, pauseMs: config.watch.rescanMs, removalMs: config.removals.delayMs },
      howToAllow: 'run: botsync approve',
      reserve: 1,
      stop: AbortSignal.any([stop, this.#switch.signal]),
    });
  }

  #takeNext(): void {
    if (this.#next === null) return;
    this.#settings = this.#next.settings;
    this.#engine = this.#createEngine();
    this.#next.taken();
    this.#next = null;
  }

  /** Runs everything under the settings of now, until a stop or a reload. */
  async #serve(trigger: Trigger): Promise<void> {
    const engine = this.#engine;
    await this.#watchSources(engine);
    const looks = new Workers(LOOKS_AHEAD, engine.fail);
    const directories = new Workers(FILES_AHEAD, engine.fail);
    const loops = [
      this.#runPasses(engine, trigger),
      this.#runLooks(engine, looks),
      this.#runDirectoryLooks(engine, directories),
      this.#runTicks(engine),
    ].map((loop) =>
      loop.catch((error: unknown) => {
        engine.fail();
        throw error;
      }),
    );
    const ended = await Promise.allSettled([...loops]);
    await looks.drain();
    await directories.drain();
    for (const loop of ended) if (loop.status === 'rejected') throw loop.reason;
    await looks.idle();
    await directories.idle();
  }

  /** Watches what is not watched yet, and no longer what left the configuration. Resolves when all is watched. */
  async #watchSources({ config, platformName, stop }: Engine): Promise<void> {
    const { clock, observer } = this.#input;
    const before = new Map(this.#watches);
    this.#watches.clear();
    for (const [position, source] of config.sources.entries()) {
      const known = before.get(source.name);
      const found = findSource(config, source, position, platformName);
      if (known?.watchesFor(config, source) === true) {
        before.delete(source.name);
        this.#watches.set(source.name, known);
        await known.meet(found);
        continue;
      }
      this.#watches.set(
        source.name,
        new SourceWatch(found, config, clock, {
          settled: (name, paths) => {
            for (const path of paths) this.#wantLook(name, path);
          },
          lost: (name, reason) => {
            observer.eventsLost(name, reason);
            this.#passes.want('lost');
          },
          limited: (name, message) => {
            observer.watchLimited(name, message);
          },
        }),
      );
    }
    for (const gone of before.values()) await gone.close();
    await Promise.race([Promise.all([...this.#watches.values()].map((one) => one.ready())), aborted(stop)]);
  }

  #wantLook(source: string, path: string): void {
    if (path === IGNORE_FILE) this.#passes.want('ignore-file');
    else if (this.#looks.add(source, path)) this.#lookBell.ring();
    else this.#passes.want('lost');
  }

  async #runPasses(engine: Engine, first: Trigger): Promise<void> {
    const { stop } = engine;
    for (let trigger: Trigger | null = first; !stop.aborted;) {
      if (trigger !== null) await this.#pass(engine, trigger);
      else await this.#removeWhatIsDue(engine);
      trigger = await this.#passes.next(stop, () => this.#areRemovalsDue(engine));
    }
  }

  async #pass(engine: Engine, trigger: Trigger): Promise<void> {
    const { observer, clock } = this.#input;
    const { watch, sources } = engine.config;
    const names = sources.map(({ name }) => name);
    const summary = emptySummary();
    const approved = new Set(this.#approved);
    const rewatched: Promise<unknown>[] = [];
    this.#isPassing = true;
    this.#passes.begin();
    observer.passBegan(trigger);
    try {
      const exitCode = await runPass(engine, {
        summary,
        isForced: () => false,
        isAllowed: (source) => approved.has(source),
        report: trigger === 'rescan' ? this.#countingFinds() : engine.report,
        onFound: (found) => {
          for (const one of found)
            rewatched.push(this.#watches.get(one.config.name)?.meet(one) ?? NOT_WATCHED);
        },
      });
      for (const name of approved) this.#approved.delete(name);
      this.#heldRemovals.clear();
      this.#removalsAgainAtMs = clock.monotonic();
      const changed = await Promise.all(rewatched);
      // What was not watched while it was walked may have changed behind the walk.
      if (changed.includes(true)) this.#passes.want('root');
      if (engine.stop.aborted) return;
      this.#passEnded = true;
      observer.passEnded(trigger, names, summary, exitCode);
    } finally {
      this.#isPassing = false;
      const everyMs = watch.poll ? watch.pollIntervalMs : watch.rescanMs;
      this.#passes.end(everyMs, isBlocked(engine.round.blockade));
    }
  }

  /** Tells what a rescan finds that the watch should have told of before. */
  #countingFinds(): Reporter {
    const { report, observer } = this.#input;
    const event = (one: FileEvent): void => {
      const isChange = one.reason === 'new' || one.reason === 'changed' || one.kind === 'remove';
      if (isChange && !this.#isUnsettled) observer.foundByRescan(one.source);
      report.event(one);
    };
    return {
      event,
      warn: (message) => {
        report.warn(message);
      },
      retrying: (path, reason, delayMs) => {
        report.retrying(path, reason, delayMs);
      },
      sent: (bytes) => {
        report.sent(bytes);
      },
    };
  }

  get #isUnsettled(): boolean {
    return this.#looks.size > 0 || [...this.#watches.values()].some((one) => one.isUnsettled);
  }

  async #runLooks(engine: Engine, workers: Workers): Promise<void> {
    const { clock } = this.#input;
    while (!engine.stop.aborted) {
      await this.#lookBell.wait(clock, Infinity, engine.stop);
      for (let next = this.#looks.take(); next !== null && !engine.stop.aborted; next = this.#looks.take()) {
        const found = this.#watches.get(next.source)?.found;
        if (found?.kind !== 'found') continue;
        const path = next.path as RelativePath;
        if (isDirectory(found.source, path)) {
          if (this.#directories.add(next.source, path)) this.#directoryBell.ring();
          else this.#passes.want('lost');
        } else await lookAt(found.source, path, engine, workers, engine.fresh);
      }
    }
  }

  /** Whole directories may hold any number of files: single files do not wait for them. */
  async #runDirectoryLooks(engine: Engine, workers: Workers): Promise<void> {
    const { clock } = this.#input;
    while (!engine.stop.aborted) {
      await this.#directoryBell.wait(clock, Infinity, engine.stop);
      for (
        let next = this.#directories.take();
        next !== null && !engine.stop.aborted;
        next = this.#directories.take()
      ) {
        const found = this.#watches.get(next.source)?.found;
        if (found?.kind === 'found')
          await lookAt(found.source, next.path as RelativePath, engine, workers, engine.bulk);
      }
    }
  }

  /** Looks at what no event tells of. */
  async #runTicks(engine: Engine): Promise<void> {
    const { clock } = this.#input;
    const tick = new Bell();
    while (!engine.stop.aborted) {
      await this.#checkDirectories(engine);
      if (clock.monotonic() >= this.#renewalsAgainAtMs) this.#wantRenewals(engine);
      this.#passes.checkWallClock();
      if (this.#areRemovalsDue(engine)) this.#passes.wake();
      await tick.wait(clock, TICK_MS, engine.stop);
    }
  }

  async #checkDirectories({ config, platformName }: Engine): Promise<void> {
    for (const [position, source] of config.sources.entries()) {
      const watch = this.#watches.get(source.name);
      if (watch?.isReplaced !== true) continue;
      if (await watch.meet(findSource(config, source, position, platformName))) this.#passes.want('root');
    }
  }

  #wantRenewals({ state, platform, config, platformName }: Engine): void {
    if (!this.#passEnded) return;
    const { clock, observer } = this.#input;
    const nowMs = platform.now();
    const targets = new Map(
      config.sources.map((one) => [one.name, state.targetId(targetOf(config, one, platformName))]),
    );
    let wanted = 0;
    for (let page = state.renewalsDue(nowMs, null); page.length > 0;) {
      for (const { source, target, path } of page) {
        if (targets.get(source) !== target) continue;
        wanted += 1;
        this.#wantLook(source, path);
      }
      page = state.renewalsDue(nowMs, page.at(-1) as RenewalDue);
    }
    const overdue = [...targets].reduce(
      (sum, [source, target]) => sum + state.countOverdue(target, source, nowMs - OVERDUE_AFTER_MS),
      0,
    );
    observer.renewalsOverdue(overdue);
    if (wanted > 0) this.#renewalsAgainAtMs = clock.monotonic() + DUE_AGAIN_MS;
  }

  #areRemovalsDue(engine: Engine): boolean {
    const { clock } = this.#input;
    if (engine.config.removals.mode !== 'expire' || clock.monotonic() < this.#removalsAgainAtMs) return false;
    return this.#sourcesWithRemovalsDue(engine).length > 0;
  }

  #sourcesWithRemovalsDue({ state, config, platformName, standings, patience }: Engine): FoundSource[] {
    const due = state.sourcesWithRemovalsDue(this.#input.clock.now() - patience.removalMs);
    return due.flatMap(({ source, target }) => {
      const own = config.sources.find(({ name }) => name === source);
      const found = this.#watches.get(source)?.found;
      if (own === undefined || found === undefined || this.#heldRemovals.has(source)) return [];
      if (state.targetId(targetOf(config, own, platformName)) !== target) return [];
      return standings.get(source) === 'complete' ? [found] : [];
    });
  }

  async #removeWhatIsDue(engine: Engine): Promise<void> {
    for (const found of this.#sourcesWithRemovalsDue(engine)) {
      if (engine.stop.aborted) return;
      const halt = await removeWhatIsDue(found, engine);
      if (halt !== null) this.#heldRemovals.add(found.config.name);
    }
    const againMs = Math.min(DUE_AGAIN_MS, Math.max(TICK_MS, engine.patience.removalMs));
    this.#removalsAgainAtMs = this.#input.clock.monotonic() + againMs;
  }
}

function isBlocked({ refusal, shortage }: Blockade): boolean {
  return refusal !== null || shortage !== null;
}

const NOT_WATCHED = Promise.resolve(false);

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}
