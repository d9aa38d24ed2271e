import type { FileDifference } from '../catalog/compare.ts';
import { ListingError } from '../../state/listing.ts';
import { noteDifference, noteSame, verifyBots } from '../pass/verification.ts';
import { planningTime, type SyncContext } from '../pass/sync-context.ts';
import type { DaemonObserver } from './daemon-observer.ts';

/** How often it is looked whether one is due, milliseconds. */
const LOOK_MS = 60_000;

/** The same where the first pass is waited for. */
const LOOK_SOON_MS = 1000;

/** The first that ever is comes so long after a pass, milliseconds: what was just sent need not be looked at. */
const FIRST_AFTER_MS = 600_000;

/** One that failed is made again after so long, milliseconds. */
const AGAIN_MS = 3_600_000;

/** How much one comes sooner or later than told, so that many machines do not come at once. */
const JITTER = 0.1;

/** What verifications go by. */
export interface VerificationsInput {
  readonly observer: DaemonObserver;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** Whether a pass has ended under these settings. */
  readonly hasPassed: () => boolean;
  /** See `DaemonInput`. */
  readonly mayBeReplaced?: () => boolean;
  /** Asks for a rescan of a path. */
  readonly want: (source: string, path: string) => void;
}

/**
 * Compares all that the bots have with what they were sent, now and then and in no hurry: its requests come behind those
 * of files. What is found different is written down, and repaired by rescans of paths.
 */
export class Verifications {
  readonly #input: VerificationsInput;
  /** When the next is due, epoch milliseconds: a restart or a sleep of the machine does not put it off. `null`: unknown yet. */
  #dueAtMs: number | null = null;

  constructor(input: VerificationsInput) {
    this.#input = input;
  }

  /** Makes them until a stop. Throws `StateFileError`. */
  async run(syncContext: SyncContext): Promise<void> {
    const { catalog, clock, stop, config } = syncContext;
    const { everyMs } = config.verify;
    if (catalog === null || everyMs === null) return;
    this.#dueAtMs = null;
    const isDueAtOnce = this.#input.mayBeReplaced?.() === true;
    while (!stop.aborted) {
      if (this.#input.hasPassed()) {
        this.#dueAtMs ??= isDueAtOnce ? clock.now() : this.#firstDueAtMs(everyMs, syncContext);
        if (clock.now() >= this.#dueAtMs) {
          const isDone = await this.#verify(syncContext, catalog);
          this.#dueAtMs = clock.now() + this.#jittered(isDone ? everyMs : Math.min(everyMs, AGAIN_MS));
        }
      }
      const lookMs = isDueAtOnce && this.#dueAtMs === null ? LOOK_SOON_MS : LOOK_MS;
      await clock.sleep(Math.min(lookMs, everyMs), stop);
    }
  }

  #firstDueAtMs(everyMs: number, { state, clock }: SyncContext): number {
    const last = state.remote.verification();
    const nowMs = clock.now();
    if (last === null) return nowMs + this.#jittered(Math.min(everyMs, FIRST_AFTER_MS));
    // Our clock may have been set back since.
    return Math.min(last.finishedAtMs, nowMs) + this.#jittered(everyMs);
  }

  #jittered(ms: number): number {
    return ms * (1 - JITTER + 2 * JITTER * this.#input.random());
  }

  /** Whether all could be compared. */
  async #verify(syncContext: SyncContext, catalog: NonNullable<SyncContext['catalog']>): Promise<boolean> {
    const { state, clock, stop, config, flights, report, random, disk, platformName } = syncContext;
    const { observer } = this.#input;
    try {
      const verified = await verifyBots({
        config,
        platformName,
        state,
        catalog,
        // It is nobody's concern that a question is asked twice.
        ports: { clock, random, patienceMs: config.upload.giveUpAfterMs, onRetry: () => undefined, stop },
        platformNow: planningTime(syncContext),
        isBusy: (id) => flights.has(id),
        readDigest: null,
        ...(disk !== undefined && { disk }),
        onDifference: (difference, target) => {
          observer.differenceFound(difference);
          this.#repair(difference, target, syncContext);
        },
        onSame: (sent, found, target) => {
          noteSame(state, target, sent, found, clock.now());
        },
      });
      if (verified.kind === 'failed') {
        const { kind, message } = verified.failure;
        // What is not served was told when that was found out.
        if (!stop.aborted && kind !== 'not-served')
          report.warn(`the files of the bots could not be compared: ${message}`);
        return kind === 'not-served';
      }
      state.remote.saveVerification(clock.now(), JSON.stringify(verified.value));
      observer.verified(verified.value);
      return true;
    } catch (error) {
      if (!(error instanceof ListingError)) throw error;
      report.warn(error.message);
      return false;
    }
  }

  #repair(difference: FileDifference, target: number, { state, clock, config }: SyncContext): void {
    const { noted, source, path } = difference;
    const isToMend = noted === 'content' || noted === 'facts';
    if (isToMend && !config.verify.repair) return;
    noteDifference(state, target, difference, clock.now());
    if (isToMend && path !== null) this.#input.want(source, path);
  }
}
