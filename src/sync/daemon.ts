import type { Config } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { FilePlatform } from '../domain/file-platform.ts';
import { emptySummary } from '../domain/report.ts';
import type { StateStore } from '../state/state-store.ts';
import { Bell } from './bell.ts';
import { countFinds } from './count-finds.ts';
import type { DaemonActivity, DaemonObserver, Trigger } from './daemon-observer.ts';
import { DueDates } from './due-dates.ts';
import { createEngine, type Engine, type Stages } from './engine.ts';
import { Looks } from './looks.ts';
import { runPass } from './pass.ts';
import { PassSchedule } from './pass-schedule.ts';
import type { Reporter } from './reporter.ts';
import { findSource, IGNORE_FILE, type FoundSource } from './source.ts';
import { SourceWatch } from './source-watch.ts';
import { together } from './together.ts';

/** What a reload replaces. */
export interface DaemonSettings {
  readonly config: Config;
  /** What the platform is called in records. */
  readonly platformName: string;
  readonly platform: FilePlatform;
  /** Told of every new content that the platform has. */
  readonly onDelivery?: (delivery: Delivery) => void;
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

/**
 * Keeps the platform up to date for as long as it runs: passes over everything at the start and now and then, looks at
 * single paths as soon as they change, renewals and removals when they are due. Every trigger ends in the same walk.
 */
export class Daemon {
  readonly #input: DaemonInput;
  readonly #watches = new Map<string, SourceWatch>();
  readonly #passes: PassSchedule;
  readonly #looks: Looks;
  readonly #dueDates: DueDates;
  /** Halted sources that the next pass lets through. */
  readonly #approved = new Set<string>();
  #settings: DaemonSettings;
  #next: { readonly settings: DaemonSettings; readonly taken: () => void } | null = null;
  #switch = new AbortController();
  #engine: Engine;
  #isPassing = false;
  #isPastFirstPass = false;

  constructor(settings: DaemonSettings, input: DaemonInput) {
    const sourceNamed = (name: string): FoundSource | undefined => this.#watches.get(name)?.found;
    this.#settings = settings;
    this.#input = input;
    this.#passes = new PassSchedule(input.clock, input.random);
    this.#looks = new Looks(sourceNamed, () => {
      this.#passes.want('lost');
    });
    this.#dueDates = new DueDates(input.observer, sourceNamed);
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
      this.#next?.taken();
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
    const halted = this.#halts()
      .map(({ name }) => name)
      .filter((name) => source === null || name === source);
    for (const name of halted) this.#approved.add(name);
    if (halted.length > 0) this.#passes.want('approved');
    return halted;
  }

  /** What keeps the daemon from being of full service now; empty when nothing does. */
  get impediments(): string[] {
    const { refusal } = this.#engine.round.blockade;
    return [
      ...(this.#isPastFirstPass ? [] : ['the first pass is not over']),
      ...(refusal === null ? [] : [`the platform refuses the credentials: ${refusal}`]),
      ...this.#halts().map(({ name, reason }) => `${name} is halted: ${reason}`),
    ];
  }

  /** Why the platform refuses the credentials; `null` when it does not, as far as is known. */
  get refusal(): string | null {
    return this.#engine.round.blockade.refusal;
  }

  /** How it stands, for people and programs that ask. */
  get activity(): DaemonActivity {
    const { round, flights, outage } = this.#engine;
    const watched = [...this.watchedDirectories.values()];
    return {
      activity: this.#isPassing ? 'pass' : this.#isPastFirstPass ? 'watching' : 'starting',
      watchedDirectories: watched.reduce((sum, one) => sum + one, 0),
      queued: this.#looks.waiting,
      sending: flights.count,
      platformOutOfReach: outage.isOn,
      blocked: round.blockade.refusal ?? round.blockade.shortage,
    };
  }

  /** Directories under watch, by source. */
  get watchedDirectories(): ReadonlyMap<string, number> {
    return new Map([...this.#watches].map(([name, one]) => [name, one.watchedDirectories]));
  }

  #halts(): { name: string; reason: string }[] {
    return this.#settings.config.sources.flatMap(({ name }) => {
      const reason = this.#input.state.source(name)?.halted ?? null;
      return reason === null ? [] : [{ name, reason }];
    });
  }

  #createEngine(): Engine {
    const { config, platformName, platform, onDelivery } = this.#settings;
    const { stop, ...input } = this.#input;
    this.#switch = new AbortController();
    return createEngine({
      ...input,
      config,
      platformName,
      platform,
      ...(onDelivery !== undefined && { onDelivery }),
      patience: { outageMs: Infinity, pauseMs: config.watch.rescanMs, removalMs: config.removals.delayMs },
      howToAllow: 'run: botsync approve',
      isWatched: true,
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
    await together(engine, [
      this.#runPasses(engine, trigger),
      this.#looks.run(engine),
      this.#runTicks(engine),
    ]);
  }

  /** Watches what is not watched yet, and no longer what left the configuration. Resolves when all is watched. */
  async #watchSources({ config, platformName, stop }: Engine): Promise<void> {
    const before = new Map(this.#watches);
    this.#watches.clear();
    for (const [position, source] of config.sources.entries()) {
      const known = before.get(source.name);
      const found = findSource(config, source, position, platformName);
      if (known?.watchesFor(config, source) === true) {
        before.delete(source.name);
        this.#watches.set(source.name, known);
        await known.meet(found);
      } else this.#watches.set(source.name, this.#watch(found, config));
    }
    for (const gone of before.values()) await gone.close();
    const ready = Promise.all([...this.#watches.values()].map((one) => one.ready()));
    await Promise.race([ready, aborted(stop)]);
  }

  #watch(found: FoundSource, config: Config): SourceWatch {
    const { clock, observer } = this.#input;
    return new SourceWatch(found, config, clock, {
      settled: (name, paths) => {
        for (const path of paths) {
          if (path === IGNORE_FILE) this.#passes.want('ignore-file');
          else this.#looks.want(name, path);
        }
      },
      lost: (name, reason) => {
        observer.eventsLost(name, reason);
        this.#passes.want('lost');
      },
      limited: (name, message) => {
        observer.watchLimited(name, message);
      },
    });
  }

  async #runPasses(engine: Engine, first: Trigger): Promise<void> {
    for (let trigger: Trigger | null = first; !engine.stop.aborted;) {
      if (trigger !== null) await this.#pass(engine, trigger);
      else await this.#dueDates.remove(engine);
      trigger = await this.#passes.next(engine.stop, () => this.#dueDates.areRemovalsDue(engine));
    }
  }

  async #pass(engine: Engine, trigger: Trigger): Promise<void> {
    const { observer } = this.#input;
    const { watch, sources } = engine.config;
    const summary = emptySummary();
    const approved = new Set(this.#approved);
    const rewatched: Promise<boolean>[] = [];
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
          for (const one of found) {
            const known = this.#watches.get(one.config.name);
            if (known !== undefined) rewatched.push(known.meet(one));
          }
        },
      });
      for (const name of approved) this.#approved.delete(name);
      this.#dueDates.passEnded(engine);
      // What was not watched while it was walked may have changed behind the walk.
      if ((await Promise.all(rewatched)).includes(true)) this.#passes.want('root');
      if (engine.stop.aborted) return;
      this.#isPastFirstPass = true;
      const names = sources.map(({ name }) => name);
      observer.passEnded(trigger, names, summary, exitCode);
    } finally {
      this.#isPassing = false;
      const { refusal, shortage } = engine.round.blockade;
      const everyMs = watch.poll ? watch.pollIntervalMs : watch.rescanMs;
      this.#passes.end(everyMs, refusal !== null || shortage !== null);
    }
  }

  #countingFinds(): Reporter {
    const { report, observer } = this.#input;
    return countFinds(report, (source) => {
      const isOnItsWay = this.#looks.waiting > 0 || this.#watches.get(source)?.isUnsettled === true;
      if (!isOnItsWay) observer.foundByRescan(source);
    });
  }

  /** Looks at what no event tells of. */
  async #runTicks(engine: Engine): Promise<void> {
    const { clock } = this.#input;
    const never = new Bell();
    while (!engine.stop.aborted) {
      await this.#checkDirectories(engine);
      this.#passes.checkWallClock();
      if (this.#isPastFirstPass) {
        this.#dueDates.findRenewals(engine, (source, path) => {
          this.#looks.want(source, path);
        });
      }
      if (this.#dueDates.areRemovalsDue(engine)) this.#passes.wake();
      await never.wait(clock, TICK_MS, engine.stop);
    }
  }

  async #checkDirectories({ config, platformName }: Engine): Promise<void> {
    for (const [position, source] of config.sources.entries()) {
      const watch = this.#watches.get(source.name);
      if (watch?.isReplaced !== true) continue;
      if (await watch.meet(findSource(config, source, position, platformName))) this.#passes.want('root');
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}
