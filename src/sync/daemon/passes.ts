import type { Clock } from '../../domain/clock.ts';
import { emptySummary, type FileEvent } from '../../domain/report.ts';
import type { Blockade } from '../pass/blockade.ts';
import type { SyncContext } from '../pass/sync-context.ts';
import { runPass } from '../pass/pass.ts';
import type { Approvals } from './asked.ts';
import type { Emit, Trigger } from '../events.ts';
import type { DueDates } from './due-dates.ts';
import type { PathRescans } from './path-rescans.ts';
import type { PassSchedule } from './pass-schedule.ts';
import type { Watches } from './watches.ts';

/** A regular rescan retries failed files even if its jitter brings it a little before their time. */
const FAILED_AGAIN_PART = 0.8;

export interface PassesInput {
  readonly clock: Clock;
  readonly emit: Emit;
  readonly schedule: PassSchedule;
  readonly watches: Watches;
  readonly rescans: PathRescans;
  readonly dueDates: DueDates;
  readonly approvals: Approvals;
}

/** When the next pass begins, and the next that retries failed files; by the monotonic clock, `null`: it is running. */
export interface PassOutlook {
  readonly nextPassMs: number | null;
  readonly failedAgainMs: number | null;
}

/** Makes the passes of a daemon, one at a time, and the removals that are due between them. */
export class Passes {
  readonly #input: PassesInput;
  #isUnderWay = false;
  #hasEnded = false;
  /** The blockade before the running pass. */
  #blockadeBefore: Blockade | null = null;
  /** The running or last pass retries failed files. */
  #isRetryingFailed = false;
  /** When failed files are retried, by the monotonic clock. */
  #failedAgainAtMs = 0;

  constructor(input: PassesInput) {
    this.#input = input;
  }

  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  /** A pass has ended since the settings became current. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Returns the known blockade. While a pass retries, the previous blockade counts until it is disproved. */
  blockade({ round: { blockade } }: SyncContext): Blockade {
    return blockade.isOn ? blockade : (this.#blockadeBefore ?? blockade);
  }

  get outlook(): PassOutlook {
    const { schedule } = this.#input;
    const { dueAtMs, retryAtMs } = schedule;
    if (this.#isUnderWay && this.#isRetryingFailed) return { nextPassMs: null, failedAgainMs: null };
    const soonestMs = retryAtMs ?? this.#failedAgainAtMs;
    return { nextPassMs: dueAtMs, failedAgainMs: Math.max(soonestMs, dueAtMs ?? soonestMs) };
  }

  /** Notes that the settings are new. */
  renew(): void {
    this.#hasEnded = false;
  }

  /**
   * Makes passes until a stop.
   *
   * @throws {StateFileError}
   */
  async run(syncContext: SyncContext, first: Trigger): Promise<void> {
    const { schedule, dueDates } = this.#input;
    for (let trigger: Trigger | null = first; !syncContext.stop.aborted;) {
      if (trigger !== null) await this.#pass(syncContext, trigger);
      else await dueDates.remove(syncContext);
      trigger = await schedule.next(syncContext.stop, () => dueDates.areRemovalsDue(syncContext));
    }
  }

  async #pass(syncContext: SyncContext, trigger: Trigger): Promise<void> {
    const { emit, clock, schedule, approvals, watches, rescans } = this.#input;
    const { watch, sources } = syncContext.config;
    const summary = emptySummary();
    const approved = approvals.pending;
    const rewatched: Promise<boolean>[] = [];
    const before = syncContext.round.blockade;
    const isAnew = trigger === 'start' || trigger === 'reload';
    const isAsked = trigger === 'approved' || trigger === 'asked';
    const retriesAll = isAnew || isAsked || schedule.mayRetry;
    const isFailedDue = clock.monotonic() >= this.#failedAgainAtMs;
    const isRetry = isAnew || trigger === 'recovered' || trigger === 'asked';
    const retriesFailed = isRetry || isFailedDue || (retriesAll && before.isOn);
    if (retriesFailed) this.#failedAgainAtMs = clock.monotonic() + watch.rescanMs * FAILED_AGAIN_PART;
    this.#isRetryingFailed = retriesFailed && (retriesAll || !before.isOn);
    this.#isUnderWay = true;
    this.#blockadeBefore = before;
    schedule.begin();
    emit({ kind: 'pass-began', trigger });
    try {
      const exitCode = await runPass(syncContext, {
        summary,
        isForced: () => false,
        approved: (source) => approvals.of(source),
        retriesFailed,
        ...(!retriesAll && before.isOn && { blockade: before }),
        emit: trigger === 'rescan' ? this.#reportingFinds() : syncContext.emit,
        onFound: (found) => {
          rewatched.push(...watches.meet(found));
          rescans.passBegins();
        },
      });
      this.#input.dueDates.passEnded(syncContext);
      // Files may have changed after they were walked and before they were watched.
      if ((await Promise.all(rewatched)).includes(true)) schedule.want('root');
      if (syncContext.stop.aborted) return;
      approvals.used(approved);
      this.#hasEnded = true;
      emit({ kind: 'pass-ended', trigger, sources: sources.map(({ name }) => name), summary, exitCode });
    } finally {
      await Promise.allSettled(rewatched);
      this.#isUnderWay = false;
      this.#blockadeBefore = null;
      schedule.end(watch.poll ? watch.pollIntervalMs : watch.rescanMs, syncContext.round.blockade.isOn);
    }
  }

  /** Returns listeners that also report each change that a rescan finds and that had no event. */
  #reportingFinds(): Emit {
    const { emit, rescans, watches, clock } = this.#input;
    return (event) => {
      if (event.kind === 'file' && isChange(event.file)) {
        const { source } = event.file;
        const isOnItsWay = rescans.waiting > 0 || watches.reportedUntilMs(source) < clock.now();
        if (!isOnItsWay) emit({ kind: 'found-by-rescan', source });
      }
      emit(event);
    };
  }
}

function isChange({ kind, reason }: FileEvent): boolean {
  return kind === 'remove' || (kind === 'upload' && (reason === 'new' || reason === 'changed'));
}
