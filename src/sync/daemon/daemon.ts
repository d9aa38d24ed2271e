import type { Config } from '../../config/config.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Delivery } from '../../domain/delivery.ts';
import type { FilePlatform } from '../../domain/file-platform.ts';
import { emptySummary } from '../../domain/report.ts';
import type { StateStore } from '../../state/state-store.ts';
import { Approvals, type Approval } from './approvals.ts';
import { Bell } from './bell.ts';
import type { Blockade } from '../pass/blockade.ts';
import { countFinds } from './count-finds.ts';
import type { DaemonActivity, DaemonObserver, Trigger } from './daemon-observer.ts';
import { DueDates } from './due-dates.ts';
import { createEngine, type Engine, type Stages } from '../pass/engine.ts';
import { Flights } from '../pass/flights.ts';
import { Looks } from './looks.ts';
import { runPass } from '../pass/pass.ts';
import { PassSchedule } from './pass-schedule.ts';
import type { Reporter } from '../pass/reporter.ts';
import { findSource, IGNORE_FILE, type FoundSource } from '../sources/source.ts';
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

/** A rescan a little before its time, by its jitter, is still one that tries failed files again. */
const FAILED_AGAIN_PART = 0.8;

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
  readonly #approvals = new Approvals();
  /** Shared by all settings: what is under way at a reload goes on. */
  readonly #flights = new Flights();
  /** Ends what is under way under any settings. */
  readonly #broken = new AbortController();
  readonly #tickBell = new Bell();
  /** Sources whose ignore file changed. */
  readonly #otherPatterns = new Set<string>();
  #settings: DaemonSettings;
  #next: { readonly settings: DaemonSettings; readonly taken: () => void } | null = null;
  #switch = new AbortController();
  #engine: Engine;
  #isPassing = false;
  #isPastFirstPass = false;
  /** What stood in the way before the pass that is under way. */
  #blockadeBefore: Blockade | null = null;
  /** Failed files are tried again then, by the monotonic clock. */
  #failedAgainAtMs = 0;

  constructor(settings: DaemonSettings, input: DaemonInput) {
    const sourceNamed = (name: string): FoundSource | undefined => this.#watches.get(name)?.found;
    this.#settings = settings;
    this.#input = input;
    this.#passes = new PassSchedule(input.clock, input.random);
    this.#looks = new Looks(input.clock, sourceNamed, () => {
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
    } catch (error) {
      this.#broken.abort();
      throw error;
    } finally {
      await this.#flights.idle();
      for (const watch of this.#watches.values()) await watch.close();
      this.#watches.clear();
      this.#next?.taken();
    }
  }

  /**
   * Goes on under other settings. Resolves once they are in use; what is under way then goes on under the old ones, until
   * `whenSettled` resolves.
   */
  async reload(settings: DaemonSettings): Promise<{ readonly whenSettled: Promise<void> }> {
    await new Promise<void>((resolve) => {
      // One that was not taken yet is overtaken.
      this.#next?.taken();
      this.#next = { settings, taken: resolve };
      this.#switch.abort();
    });
    return { whenSettled: this.#flights.settled() };
  }

  /** Lets through, once, what halts a source, or all of them: that halt, and no other that may come. */
  approve(source: string | null): Approval {
    const approval = this.#approvals.give(this.#engine.halts, source);
    if (approval.approved.length > 0) this.#passes.want('approved');
    return approval;
  }

  /** What keeps the daemon from being of full service now; empty when nothing does. */
  get impediments(): string[] {
    const { refusal, shortage } = this.#blockade;
    return [
      ...(this.#isPastFirstPass ? [] : ['the first pass is not over']),
      ...(refusal === null ? [] : [`the platform refuses the credentials: ${refusal}`]),
      ...(shortage === null ? [] : [`the platform takes nothing that needs more room: ${shortage}`]),
      ...this.#halts().map(({ name, reason }) => `${name} is halted: ${reason}`),
    ];
  }

  /** Why the platform refuses the credentials; `null` when it does not, as far as is known. */
  get refusal(): string | null {
    return this.#blockade.refusal;
  }

  /** How it stands, for people and programs that ask. */
  get activity(): DaemonActivity {
    const { flights, outage } = this.#engine;
    const { refusal, shortage } = this.#blockade;
    const watched = [...this.watchedDirectories.values()];
    return {
      activity: this.#isPassing ? 'pass' : this.#isPastFirstPass ? 'watching' : 'starting',
      watchedDirectories: watched.reduce((sum, one) => sum + one, 0),
      queued: this.#looks.waiting,
      sending: flights.count,
      platformOutOfReach: outage.isOn,
      blocked: refusal ?? shortage,
    };
  }

  /** Directories under watch, by source. */
  get watchedDirectories(): ReadonlyMap<string, number> {
    return new Map([...this.#watches].map(([name, one]) => [name, one.watchedDirectories]));
  }

  /** What stands in the way, as far as is known: a pass that tries again has not disproved it yet. */
  get #blockade(): Blockade {
    const { blockade } = this.#engine.round;
    return blockade.isOn ? blockade : (this.#blockadeBefore ?? blockade);
  }

  #halts(): { name: string; reason: string }[] {
    return this.#settings.config.sources.flatMap(({ name }) => {
      const reason = this.#input.state.source(name)?.halted ?? null;
      return reason === null ? [] : [{ name, reason }];
    });
  }

  #createEngine(): Engine {
    const { config, platformName, platform, onDelivery } = this.#settings;
    const { stop, abort, clock, ...input } = this.#input;
    const { settleMs, maxDelayMs } = config.watch;
    this.#switch = new AbortController();
    return createEngine({
      ...input,
      clock,
      config,
      platformName,
      platform,
      ...(onDelivery !== undefined && { onDelivery }),
      patience: { outageMs: Infinity, pauseMs: config.watch.rescanMs, removalMs: config.removals.delayMs },
      flights: this.#flights,
      outlook: {
        ignores: (source, path) => {
          const found = this.#watches.get(source)?.found;
          return found?.kind === 'found' && found.source.filter.ignoresFile(path);
        },
        lookAgain: (source, path) => {
          this.#looks.want(source, path);
        },
        seenUntilMs: (source) => {
          const isUnsettled = this.#watches.get(source)?.isUnsettled === true;
          const settledMs = clock.now() - (isUnsettled ? settleMs + maxDelayMs : 0);
          return Math.min(settledMs, (this.#looks.oldest(source) ?? Infinity) - 1);
        },
      },
      detach: this.#switch.signal,
      abort: AbortSignal.any([abort, this.#broken.signal]),
      howToAllow: 'run: botsync approve',
      isWatched: true,
      stop: AbortSignal.any([stop, this.#switch.signal]),
    });
  }

  #takeNext(): void {
    if (this.#next === null) return;
    this.#settings = this.#next.settings;
    this.#engine = this.#createEngine();
    this.#isPastFirstPass = false;
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
          if (path !== IGNORE_FILE) this.#looks.want(name, path);
          else {
            this.#otherPatterns.add(name);
            this.#tickBell.ring();
          }
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
    const { observer, clock } = this.#input;
    const { watch, sources } = engine.config;
    const summary = emptySummary();
    const approved = this.#approvals.pending;
    const rewatched: Promise<boolean>[] = [];
    const before = engine.round.blockade;
    const retriesAll = trigger !== 'rescan' || this.#passes.mayRetry;
    const isFailedDue = clock.monotonic() >= this.#failedAgainAtMs;
    const retriesFailed =
      trigger === 'start' || trigger === 'reload' || isFailedDue || (retriesAll && before.isOn);
    if (retriesFailed) this.#failedAgainAtMs = clock.monotonic() + watch.rescanMs * FAILED_AGAIN_PART;
    this.#isPassing = true;
    this.#blockadeBefore = before;
    this.#passes.begin();
    observer.passBegan(trigger);
    try {
      const exitCode = await runPass(engine, {
        summary,
        isForced: () => false,
        isAllowed: (source, halt) => this.#approvals.allows(source, halt),
        retriesFailed,
        ...(!retriesAll && before.isOn && { blockade: before }),
        report: trigger === 'rescan' ? this.#countingFinds() : engine.report,
        onFound: (found) => {
          for (const one of found) {
            const known = this.#watches.get(one.config.name);
            if (known !== undefined) rewatched.push(known.meet(one));
          }
        },
      });
      this.#dueDates.passEnded(engine);
      // What was not watched while it was walked may have changed behind the walk.
      if ((await Promise.all(rewatched)).includes(true)) this.#passes.want('root');
      if (engine.stop.aborted) return;
      this.#approvals.used(approved);
      this.#isPastFirstPass = true;
      const names = sources.map(({ name }) => name);
      observer.passEnded(trigger, names, summary, exitCode);
    } finally {
      await Promise.allSettled(rewatched);
      this.#isPassing = false;
      this.#blockadeBefore = null;
      this.#passes.end(watch.poll ? watch.pollIntervalMs : watch.rescanMs, engine.round.blockade.isOn);
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
    while (!engine.stop.aborted) {
      engine.state.checkInPlace();
      await this.#checkDirectories(engine);
      this.#passes.checkWallClock();
      if (!this.#isPassing && engine.round.blockade.isOn) this.#passes.noteBlocked();
      if (this.#isPastFirstPass) {
        this.#dueDates.findRenewals(engine, (source, path) => {
          this.#looks.wantInTime(source, path);
        });
      }
      if (this.#dueDates.areRemovalsDue(engine)) this.#passes.wake();
      await this.#tickBell.wait(clock, TICK_MS, engine.stop);
    }
  }

  async #checkDirectories({ config, platformName, standings }: Engine): Promise<void> {
    for (const [position, source] of config.sources.entries()) {
      const watch = this.#watches.get(source.name);
      const hasOtherPatterns = this.#otherPatterns.delete(source.name);
      const isReplaced = watch?.isReplaced === true;
      if (watch === undefined || (!isReplaced && !hasOtherPatterns)) continue;
      // Nothing of another directory is looked at before a pass has checked it.
      if (isReplaced) standings.set(source.name, 'halted');
      await watch.meet(findSource(config, source, position, platformName));
      this.#passes.want(isReplaced ? 'root' : 'ignore-file');
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
