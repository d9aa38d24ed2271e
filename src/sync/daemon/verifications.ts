import type { FileDifference } from '../catalog/compare.ts';
import { Bell } from '../../service/bell.ts';
import { ListingError } from '../../store/listing.ts';
import { noteDifference, noteSame, verifyBots } from '../pass/verification.ts';
import { planningTime, type SyncContext } from '../pass/sync-context.ts';

/** Interval for checks of the schedule, milliseconds. */
const LOOK_MS = 60_000;

/** The delay of the very first verification, milliseconds: files that were just sent need no check. */
const FIRST_AFTER_MS = 600_000;

/** The delay after a failed verification, milliseconds. */
const AGAIN_MS = 3_600_000;

/** Verifications come earlier or later by up to this fraction, so that many machines do not come at the same time. */
const JITTER = 0.1;

export interface VerificationsInput {
  readonly random: () => number;
  /** Returns whether a pass has ended under the current settings. */
  readonly hasPassed: () => boolean;
  readonly want: (source: string, path: string) => void;
}

/**
 * Compares the files of the bots with what was sent to them, regularly and with low priority: requests for files go
 * first. Differences are recorded, and repaired by rescans.
 */
export class Verifications {
  readonly #input: VerificationsInput;
  /** When the next is due, epoch milliseconds, so that neither a restart nor sleep delays it. `null`: unknown yet. */
  #dueAtMs: number | null = null;
  readonly #bell = new Bell();
  #isAsked = false;

  constructor(input: VerificationsInput) {
    this.#input = input;
  }

  /** Requests a verification soon that also repairs, whatever the configuration says. */
  want(): void {
    this.#isAsked = true;
    this.#bell.ring();
  }

  /**
   * Makes verifications until a stop.
   *
   * @throws {StateFileError}
   */
  async run(syncContext: SyncContext): Promise<void> {
    const { catalog, clock, stop, config } = syncContext;
    const everyMs = config.verify.everyMs ?? Infinity;
    if (catalog === null) return;
    this.#dueAtMs = null;
    while (!stop.aborted) {
      if (this.#input.hasPassed()) {
        this.#dueAtMs ??= this.#firstDueAtMs(everyMs, syncContext);
        if (this.#isAsked || clock.now() >= this.#dueAtMs) {
          const isAsked = this.#isAsked;
          this.#isAsked = false;
          const isDone = await this.#verify(syncContext, catalog, isAsked || config.verify.repair);
          if (isAsked && !isDone) this.#isAsked = true;
          this.#dueAtMs = clock.now() + this.#jittered(isDone ? everyMs : Math.min(everyMs, AGAIN_MS));
        }
      }
      await this.#bell.wait(clock, Math.min(LOOK_MS, everyMs), stop);
    }
  }

  #firstDueAtMs(everyMs: number, { state, clock }: SyncContext): number {
    if (everyMs === Infinity) return Infinity;
    const last = state.remote.verification();
    const nowMs = clock.now();
    if (last === null) return nowMs + this.#jittered(Math.min(everyMs, FIRST_AFTER_MS));
    // Our clock may have been set back since.
    return Math.min(last.finishedAtMs, nowMs) + this.#jittered(everyMs);
  }

  #jittered(ms: number): number {
    return ms * (1 - JITTER + 2 * JITTER * this.#input.random());
  }

  /** Returns whether nothing is left to compare: all was compared, or the platform does not serve it. */
  async #verify(
    syncContext: SyncContext,
    catalog: NonNullable<SyncContext['catalog']>,
    isToMend: boolean,
  ): Promise<boolean> {
    const { state, clock, stop, config, keyLocks, emit, random, disk, platformName } = syncContext;
    try {
      const verified = await verifyBots({
        config,
        platformName,
        state,
        catalog,
        // Retries are not reported.
        ports: { clock, random, patienceMs: config.upload.giveUpAfterMs, onRetry: () => undefined, stop },
        platformNow: planningTime(syncContext),
        isBusy: (id) => keyLocks.has(id),
        readDigest: null,
        ...(disk !== undefined && { disk }),
        onDifference: (difference, target) => {
          emit({ kind: 'difference', difference });
          this.#repair(difference, target, isToMend, syncContext);
        },
        onSame: (sent, found, target) => {
          noteSame(state, target, sent, found, clock.now());
        },
      });
      if (verified.kind === 'failed') {
        const { kind, message } = verified.failure;
        // A platform that does not serve this was already reported.
        if (!stop.aborted && kind !== 'not-served')
          emit({ kind: 'warning', message: `the files of the bots could not be compared: ${message}` });
        return kind === 'not-served';
      }
      state.remote.saveVerification(clock.now(), JSON.stringify(verified.value));
      emit({ kind: 'verified', verified: verified.value });
      return true;
    } catch (error) {
      if (!(error instanceof ListingError)) throw error;
      emit({ kind: 'warning', message: error.message });
      return false;
    }
  }

  #repair(
    difference: FileDifference,
    target: number,
    isToMend: boolean,
    { state, clock }: SyncContext,
  ): void {
    const { noted, source, path } = difference;
    const isMendable = noted === 'content' || noted === 'facts';
    if (isMendable && !isToMend) return;
    noteDifference(state, target, difference, clock.now());
    if (isMendable && path !== null) this.#input.want(source, path);
  }
}
