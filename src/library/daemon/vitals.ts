import type { DaemonActivity } from '../../sync/events.ts';
import type { Config } from '../../config/config.ts';
import { longestWaitMs } from '../../domain/wait-limit.ts';
import type { PauseReason } from '../../service/metrics.ts';
import { Pulse, type Stage } from '../../service/pulse.ts';
import type { Stages } from '../../sync/pass/sync-context.ts';
import type { Vitals } from './watchdog.ts';

/** Work that does not move for less than this may just be slow, milliseconds. */
const SHORTEST_STANDSTILL_MS = 120_000;

/** A transfer moves on with each piece of this many bytes at the latest. */
const PIECE_BYTES = 1_000_000;

/** What is asked to tell work that stands still from work that waits. */
export interface VitalsPorts {
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
  /** How long the platform has asked us to wait from now, milliseconds. */
  readonly pausedForMs: () => number;
  /** `null` while no daemon runs. */
  readonly activity: () => Pick<DaemonActivity, 'platformOutOfReach' | 'blocked'> | null;
  readonly uploadSettings: () => Pick<Config['upload'], 'stallTimeoutMs' | 'maxBytesPerSecond'>;
}

/** Whether the work of a daemon moves on, and why it should not just now. */
export class DaemonVitals implements Vitals {
  /** What moves as walks and files do. */
  readonly stages: Stages;
  /** What moves as requests and their content do. */
  readonly transfers: Stage;
  readonly #ports: VitalsPorts;
  readonly #pulse: Pulse;

  constructor(ports: VitalsPorts) {
    this.#ports = ports;
    this.#pulse = new Pulse(ports.monotonic);
    // Files that are refused for their bot or for want of room are not in hand: that is no excuse.
    const isPaused = (): boolean => this.#isAskedToPause || ports.activity()?.platformOutOfReach === true;
    const transfer = this.#pulse.stage('transfer', isPaused);
    const file = this.#pulse.stage('file', isPaused);
    this.stages = { walk: this.#pulse.stage('walk'), file };
    this.transfers = {
      ...transfer,
      progress: () => {
        transfer.progress();
        // A file that takes hours moves with every piece of it.
        file.progress();
      },
    };
  }

  /** Why nothing is sent just now; `null` when something may be. */
  get pausedBy(): PauseReason | null {
    const activity = this.#ports.activity();
    if (this.#isAskedToPause) return 'asked';
    if (activity?.platformOutOfReach === true) return 'outage';
    return activity !== null && activity.blocked !== null ? 'blockade' : null;
  }

  /** What has come to a standstill. To be asked every few seconds. */
  get standingStill(): string[] {
    const { stallTimeoutMs, maxBytesPerSecond } = this.#ports.uploadSettings();
    // A piece of content may have to wait for our own speed limit.
    const pieceMs = maxBytesPerSecond === null ? 0 : (PIECE_BYTES / maxBytesPerSecond) * 1000;
    // What a store buffers does not move as far as we see; it is given up before it counts as a standstill.
    const longestMs = longestWaitMs(stallTimeoutMs) + stallTimeoutMs;
    return this.#pulse.standsStill(Math.max(SHORTEST_STANDSTILL_MS, longestMs, pieceMs * 3));
  }

  get #isAskedToPause(): boolean {
    return this.#ports.pausedForMs() > 0;
  }
}
