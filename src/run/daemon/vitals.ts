import type { DaemonActivity } from '../../sync/events.ts';
import type { Config } from '../../config/config.ts';
import { longestWaitMs } from '../../domain/throughput.ts';
import type { PauseReason } from '../../service/metrics.ts';
import { Pulse, type Stage } from '../../service/pulse.ts';
import type { Stages } from '../../sync/pass/sync-context.ts';
import type { Vitals } from './watchdog.ts';

/** Work without progress for less than this may just be slow, milliseconds. */
const SHORTEST_STANDSTILL_MS = 120_000;

/** A transfer reports progress at least once in this many bytes. */
const PIECE_BYTES = 1_000_000;

export interface VitalsPorts {
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
  /** Returns the remaining pause that the platform asked for, milliseconds. */
  readonly pausedForMs: () => number;
  /** Returns `null` while no daemon runs. */
  readonly activity: () => Pick<DaemonActivity, 'platformOutOfReach' | 'blocked'> | null;
  readonly uploadSettings: () => Pick<Config['upload'], 'stallTimeoutMs' | 'maxBytesPerSecond'>;
}

/** Distinguishes stalled work from work that is slow or has a reason to pause. */
export class DaemonVitals implements Vitals {
  /** Progress of walks and files. */
  readonly stages: Stages;
  /** Progress of requests and their content. */
  readonly transfers: Stage;
  readonly #ports: VitalsPorts;
  readonly #pulse: Pulse;

  constructor(ports: VitalsPorts) {
    this.#ports = ports;
    this.#pulse = new Pulse(ports.monotonic);
    // Files refused for their bot or for a quota are not in progress, so they excuse no standstill.
    const isPaused = (): boolean => this.#isAskedToPause || ports.activity()?.platformOutOfReach === true;
    const transfer = this.#pulse.stage('transfer', isPaused);
    const file = this.#pulse.stage('file', isPaused);
    this.stages = { walk: this.#pulse.stage('walk'), file };
    this.transfers = {
      ...transfer,
      progress: () => {
        transfer.progress();
        // A file that takes hours progresses with every piece of its content.
        file.progress();
      },
    };
  }

  /** Why nothing is sent at the moment; `null`: something may be. */
  get pausedBy(): PauseReason | null {
    const activity = this.#ports.activity();
    if (this.#isAskedToPause) return 'asked';
    if (activity?.platformOutOfReach === true) return 'outage';
    return activity !== null && activity.blocked !== null ? 'blockade' : null;
  }

  /** Names of the stages without progress. Read every few seconds. */
  get standingStill(): string[] {
    const { stallTimeoutMs, maxBytesPerSecond } = this.#ports.uploadSettings();
    // A piece of content may have to wait for the configured speed limit.
    const pieceMs = maxBytesPerSecond === null ? 0 : (PIECE_BYTES / maxBytesPerSecond) * 1000;
    // While a store buffers there is no visible progress; the transfer times out before it counts as a standstill.
    const longestMs = longestWaitMs(stallTimeoutMs) + stallTimeoutMs;
    return this.#pulse.standsStill(Math.max(SHORTEST_STANDSTILL_MS, longestMs, pieceMs * 3));
  }

  get #isAskedToPause(): boolean {
    return this.#ports.pausedForMs() > 0;
  }
}
