import type { Halt } from '../../domain/guard.ts';
import type { Hint } from '../../domain/hint.ts';
import { activityOf, impedimentsOf, type ActivityInput } from './activity.ts';
import { Approvals, askPrune, type WantedPrune, judgeRescan } from './asked.ts';
import type { Approval, AskedPause, AskedPrune, AskedRescan } from '../../domain/status.ts';
import { Bell } from '../../service/bell.ts';
import { type Blockade, RefusalNews } from '../pass/blockade.ts';
import type { DaemonActivity, Trigger } from '../events.ts';
import { DueDates } from './due-dates.ts';
import { createSyncContext } from '../pass/create-sync-context.ts';
import type { SyncContext, SyncServices, SyncSettings } from '../pass/sync-context.ts';
import { KeyLocks } from '../pass/key-locks.ts';
import { hintedPathsFor, type HintedPaths } from './hinted-paths.ts';
import { Pausing } from './pausing.ts';
import { PathRescans } from './path-rescans.ts';
import { pauseStatusOf } from '../plan/overview.ts';
import { targetOf } from '../sources/source.ts';
import { PassSchedule } from './pass-schedule.ts';
import { Passes } from './passes.ts';
import { together } from '../pass/workers.ts';
import type { SourceListener } from './source-watch.ts';
import { Verifications } from './verifications.ts';
import { Watches } from './watches.ts';

export interface DaemonInput extends SyncServices {
  /** Throws `StateFileError` if the state file, or what locks it, was replaced. */
  readonly checkInPlace: () => void;
  /** Up to when the other units of the same target have rescanned everything, epoch milliseconds; without it there are none. */
  readonly othersSettledUntilMs?: () => number;
}

/** Interval for checks of directories and due dates, milliseconds. */
const TICK_MS = 2000;

/**
 * Keeps the platform up to date as long as it runs. Makes passes over everything, at the start and regularly; rescans
 * paths as soon as they change; renews and removes files when due. Every trigger ends in the same walk.
 */
export class Daemon {
  readonly #input: DaemonInput;
  readonly #watches: Watches;
  readonly #schedule: PassSchedule;
  readonly #passes: Passes;
  readonly #rescans: PathRescans;
  readonly #hinted: HintedPaths;
  readonly #dueDates: DueDates;
  readonly #verifications: Verifications;
  readonly #approvals = new Approvals();
  readonly #pausing: Pausing;
  /** Shared by all settings: running work continues after a reload. */
  readonly #keyLocks = new KeyLocks();
  /** Breaks off running work under any settings. */
  readonly #broken = new AbortController();
  readonly #tickBell = new Bell();
  readonly #refusalNews: RefusalNews;
  #settings: SyncSettings;
  #next: { readonly settings: SyncSettings; readonly taken: () => void } | null = null;
  #switch = new AbortController();
  #syncContext: SyncContext;
  #isOver = false;

  constructor(settings: SyncSettings, input: DaemonInput) {
    this.#settings = settings;
    this.#input = input;
    this.#schedule = new PassSchedule(input.clock, input.random);
    this.#pausing = new Pausing(input, () => {
      this.#schedule.want('asked');
    });
    this.#watches = new Watches(input.clock, input.emit, {
      rescan: (source, path) => {
        this.#rescans.want(source, path);
      },
      pass: this.#schedule.want,
      patternsChanged: () => {
        this.#tickBell.ring();
      },
    });
    this.#rescans = new PathRescans(input.clock, this.#watches.found, () => {
      this.#schedule.want('lost');
    });
    this.#hinted = hintedPathsFor(input.clock, this.#watches, this.#schedule);
    this.#dueDates = new DueDates(input.emit, this.#watches.found);
    this.#refusalNews = new RefusalNews(input.emit);
    this.#passes = new Passes({
      ...input,
      schedule: this.#schedule,
      watches: this.#watches,
      rescans: this.#rescans,
      dueDates: this.#dueDates,
      approvals: this.#approvals,
    });
    this.#verifications = new Verifications({
      ...input,
      hasPassed: () => this.#passes.hasEnded,
      want: this.#rescans.want,
    });
    this.#syncContext = this.#createEngine();
  }

  /**
   * Runs until the stop signal aborts.
   *
   * @throws {StateFileError} after all running work has ended.
   */
  async run(): Promise<void> {
    const { stop } = this.#input;
    this.#pausing.begin();
    try {
      for (let trigger: Trigger = 'start'; !stop.aborted; trigger = 'reload') {
        await this.#serve(trigger);
        this.#takeNext();
      }
    } catch (error) {
      this.#broken.abort();
      throw error;
    } finally {
      await this.#keyLocks.idle();
      await this.#watches.close();
      this.#isOver = true;
      this.#next?.taken();
    }
  }

  /**
   * Switches to other settings. Resolves once they are in use, or the run has ended. Work that is then running
   * continues under the old settings, until `whenSettled` resolves.
   */
  async reload(settings: SyncSettings): Promise<{ readonly whenSettled: Promise<void> }> {
    await new Promise<void>((resolve) => {
      if (this.#isOver) {
        resolve();
        return;
      }
      // A later reload replaces one that is not in use yet.
      this.#next?.taken();
      this.#next = { settings, taken: resolve };
      this.#switch.abort();
    });
    return { whenSettled: this.#keyLocks.allEnded() };
  }

  /**
   * Approves the current halt of a source, once, and no later one.
   *
   * @param source - `null`: all sources.
   * @param digest - of the halt, see `haltDigest`; `null`: any current halt.
   */
  approve(source: string | null, digest: string | null = null): Approval {
    const approval = this.#approvals.give(
      new Map([...this.#halts()].filter(([name]) => source === null || name === source)),
      digest,
    );
    if (approval.approved.length > 0) this.#schedule.want('approved');
    return approval;
  }

  /**
   * Rescans everything, or one path of a source and everything below it. Retries failed files.
   *
   * @param source - `null`: all sources. A source without a path also means all, because a pass covers everything.
   */
  rescan(source: string | null, path: string | null): AskedRescan {
    const wanted: AskedRescan =
      source === null || path === null
        ? { kind: 'pass' }
        : judgeRescan(source, path, this.#watches.found(source), this.#syncContext, this.refusal);
    if (wanted.kind === 'pass') this.#schedule.want('asked');
    if (wanted.kind === 'path' && source !== null && path !== null) this.#rescans.want(source, path);
    return wanted;
  }

  /** Marks kept files for removal. The next removals of their source check them like deleted files. */
  prune(wanted: WantedPrune): AskedPrune {
    return askPrune(wanted, this.#watches.found(wanted.source), this.#input.state);
  }

  /**
   * Pauses until a moment (epoch milliseconds), or until `resume` (`null`). What runs is completed; nothing else is
   * sent, changed or removed.
   */
  pause(untilMs: number | null): AskedPause {
    const { state } = this.#input;
    const { config, platformName } = this.#settings;
    const expiries = config.sources.flatMap((source) => {
      const target = state.targetId(targetOf(config, source, platformName));
      return state.firstRenewableExpiry(target, source.name) ?? [];
    });
    const firstMs = Math.min(...expiries);
    const isInTime = firstMs < Infinity && firstMs <= (untilMs ?? Infinity);
    const status = pauseStatusOf(this.#pausing.pause(untilMs));
    return { ...status, expires: isInTime ? new Date(firstMs).toISOString() : null };
  }

  /** Ends the pause, and sends what it held back. Returns `false` if there is none. */
  resume(): boolean {
    return this.#pausing.resume();
  }

  /** Requests a comparison of everything with the bots soon, and the repair of differences. */
  repair(): void {
    this.#verifications.want();
  }

  /** Handles a hint that another host wrote to a source. The hint only causes rescans; its content is not trusted. */
  hear(source: string, hint: Hint): void {
    this.#hinted.hear(source, hint);
  }

  /** Receives events of other watches on this machine. */
  get watchListener(): Pick<SourceListener, 'settled' | 'lost'> {
    return this.#watches.listener;
  }

  /** Reasons why the daemon is not fully working now, for messages. */
  get impediments(): string[] {
    return impedimentsOf(this.#activityInput, this.#halts());
  }

  /** Why the platform refuses the credentials; `null`: no refusal is known. */
  get refusal(): string | null {
    return this.#blockade.refusal;
  }

  /**
   * The time up to which all changes are on the platform, as far as files can be sent, epoch milliseconds; `null`:
   * unknown, or work is in progress.
   */
  get settledUntilMs(): number | null {
    const { activity, sending, queued } = this.activity;
    if (activity !== 'watching' || sending + queued > 0) return null;
    const { sources } = this.#settings.config;
    return Math.min(this.#input.clock.now(), ...sources.map(({ name }) => this.#seenUntilMs(name)));
  }

  get activity(): DaemonActivity {
    return activityOf(this.#activityInput);
  }

  get #activityInput(): ActivityInput {
    return {
      syncContext: this.#syncContext,
      blockade: this.#blockade,
      pause: this.#pausing.current,
      passes: this.#passes,
      rescans: this.#rescans,
      dueDates: this.#dueDates,
      watched: this.watchedDirectories,
      clock: this.#input.clock,
    };
  }

  /** The number of sent files whose status the platform has not reported yet. */
  get unconfirmed(): number {
    return this.#syncContext.confirmations?.unconfirmed ?? 0;
  }

  get watchedDirectories(): ReadonlyMap<string, number> {
    return this.#watches.directories;
  }

  /** Returns the time up to which all changes in a source have been rescanned, epoch milliseconds. */
  #seenUntilMs(source: string): number {
    const oldest = [this.#rescans.oldest(source), this.#hinted.oldest(source)];
    return Math.min(this.#watches.reportedUntilMs(source), ...oldest.map((atMs) => (atMs ?? Infinity) - 1));
  }

  get #blockade(): Blockade {
    return this.#passes.blockade(this.#syncContext);
  }

  /** Returns the recorded halts by source, including sources that no pass of this run has reached yet. */
  #halts(): Map<string, Halt> {
    const halts = new Map<string, Halt>();
    for (const { name } of this.#settings.config.sources) {
      const halt = this.#input.state.source(name)?.halt ?? null;
      if (halt !== null) halts.set(name, halt);
    }
    return halts;
  }

  #createEngine(): SyncContext {
    const { config } = this.#settings;
    const { stop, abort } = this.#input;
    this.#switch = new AbortController();
    return createSyncContext({
      ...this.#input,
      ...this.#settings,
      waitLimits: { outageMs: Infinity, pauseMs: config.watch.rescanMs, removalMs: config.removals.delayMs },
      isPaused: () => this.#pausing.current !== null,
      keyLocks: this.#keyLocks,
      changeFeed: {
        ignores: (source, path) => this.#watches.ignores(source, path),
        rescan: this.#rescans.want,
        lookAgain: (source) => {
          this.#watches.lookAgain(source);
        },
        seenUntilMs: (source) =>
          Math.min(this.#seenUntilMs(source), this.#input.othersSettledUntilMs?.() ?? Infinity),
      },
      detach: this.#switch.signal,
      abort: AbortSignal.any([abort, this.#broken.signal]),
      isWatched: true,
      recovered: (hasParked) => {
        if (hasParked) this.#schedule.want('recovered');
      },
      stop: AbortSignal.any([stop, this.#switch.signal]),
    });
  }

  #takeNext(): void {
    if (this.#next === null) return;
    this.#settings = this.#next.settings;
    this.#syncContext = this.#createEngine();
    this.#passes.renew();
    this.#next.taken();
    this.#next = null;
  }

  /** Runs everything under the current settings, until a stop or a reload. */
  async #serve(trigger: Trigger): Promise<void> {
    const syncContext = this.#syncContext;
    await this.#watches.adjust(syncContext, syncContext.stop);
    await together(syncContext, [
      this.#passes.run(syncContext, trigger),
      this.#rescans.run(syncContext),
      this.#hinted.run(syncContext.stop),
      this.#runTicks(syncContext),
      syncContext.confirmations?.run() ?? Promise.resolve(),
      this.#verifications.run(syncContext),
    ]);
  }

  /** Regularly checks everything that has no event of its own. */
  async #runTicks(syncContext: SyncContext): Promise<void> {
    const { clock } = this.#input;
    while (!syncContext.stop.aborted) {
      this.#input.checkInPlace();
      await this.#watches.check(syncContext, (name) => syncContext.walkStates.set(name, 'halted'));
      // Under new settings, nothing is known before the first attempt.
      if (this.#passes.hasEnded || this.#blockade.isOn) this.#refusalNews.update(this.#blockade);
      this.#schedule.checkWallClock();
      this.#pausing.endIfOver();
      if (!syncContext.isPaused()) this.#dueDates.probe(syncContext, this.#rescans.want);
      if (!this.#passes.isUnderWay && syncContext.round.blockade.isOn) this.#schedule.noteBlocked();
      this.#dueDates.find(syncContext, this.#rescans.wantInTime);
      if (this.#dueDates.areRemovalsDue(syncContext)) this.#schedule.wake();
      // A probe that is due between two ticks must not wait for the next tick.
      const untilProbeMs = syncContext.breaker.untilProbeMs || TICK_MS;
      await this.#tickBell.wait(clock, Math.min(TICK_MS, untilProbeMs), syncContext.stop);
    }
  }
}
