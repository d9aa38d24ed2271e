import { HangWatch } from '../../service/hang-watch.ts';
import type { Config } from '../../config/config.ts';
import type { Log } from '../../service/logger.ts';
import type { Metrics, PauseReason } from '../../service/metrics.ts';
import type { ServiceManager } from '../../service/systemd-notify.ts';
import type { DaemonActivity } from '../../sync/events.ts';
import { lowestRate } from '../../domain/byte-rate.ts';
import { longestWaitMs } from '../../domain/throughput.ts';
import { Pulse, type Stage } from '../../service/pulse.ts';
import type { Stages } from '../../sync/pass/sync-context.ts';

/** Check interval, milliseconds. */
const LOOK_MS = 2000;

/** Checks periodically that the daemon works or idles, and notifies the service manager while it does. */
export class Watchdog {
  readonly #vitals: DaemonVitals;
  readonly #serviceManager: ServiceManager;
  readonly #metrics: Metrics;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #fedAtMs = -Infinity;
  #pause: { readonly reason: PauseReason; readonly countedUntilMs: number } | null = null;
  #told = '';

  constructor(vitals: DaemonVitals, serviceManager: ServiceManager, metrics: Metrics, log: Log) {
    this.#vitals = vitals;
    this.#serviceManager = serviceManager;
    this.#metrics = metrics;
    this.#log = log;
    this.#timer = setInterval(() => {
      this.#look();
    }, LOOK_MS);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const nowMs = performance.now();
    this.#measurePause(nowMs);
    const still = this.#vitals.standingStill.join(', ');
    if (still !== this.#told) {
      if (still !== '')
        this.#log.error('no progress; the watchdog signal to the service manager stops', { still });
      else this.#log.info('progress again');
      this.#told = still;
    }
    const { watchdogIntervalMs } = this.#serviceManager;
    if (watchdogIntervalMs === null || still !== '') return;
    // Twice per interval, as sd_watchdog_enabled(3) recommends.
    if (nowMs - this.#fedAtMs < watchdogIntervalMs / 2 - LOOK_MS) return;
    this.#fedAtMs = nowMs;
    this.#serviceManager.watchdog();
  }

  #measurePause(nowMs: number): void {
    const reason = this.#vitals.pausedBy;
    if (this.#pause !== null)
      this.#metrics.pauseWentOn(this.#pause.reason, (nowMs - this.#pause.countedUntilMs) / 1000);
    if (reason !== null && reason !== this.#pause?.reason) this.#metrics.pauseBegan(reason);
    this.#metrics.pausedBy(reason);
    this.#pause = reason === null ? null : { reason, countedUntilMs: nowMs };
  }
}

/** Kills the process when a file system hangs for `service.hangTimeout`. */
export class HangGuard {
  readonly #log: Log;
  #current: { readonly timeoutMs: number; readonly watch: HangWatch } | null = null;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Applies a configuration. */
  async adjust({ service }: Pick<Config, 'service'>): Promise<void> {
    const timeoutMs = service.hangTimeoutMs;
    if (timeoutMs === this.#current?.timeoutMs) return;
    await this.#current?.watch.close();
    const thread = new URL('../chunks/hang-watch-thread.js', import.meta.url);
    const watch = new HangWatch(thread, timeoutMs, (reason) => {
      this.#log.warn('a hanging file system would not be noticed', { reason });
    });
    this.#current = { timeoutMs, watch };
  }

  async close(): Promise<void> {
    await this.#current?.watch.close();
  }
}

/** Work without progress for less than this may just be slow, milliseconds. */
const SHORTEST_STANDSTILL_MS = 120_000;

/** A transfer reports progress at least once in this many bytes. */
const PIECE_BYTES = 1_000_000;

interface VitalsPorts {
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
  /** Returns the remaining pause that the platform asked for, milliseconds. */
  readonly pausedForMs: () => number;
  /** Returns `null` while no daemon runs. */
  readonly activity: () => Pick<DaemonActivity, 'platformOutOfReach' | 'blocked' | 'pause'> | null;
  readonly uploadSettings: () => Pick<Config['upload'], 'stallTimeoutMs' | 'maxBytesPerSecond'>;
}

/** Distinguishes stalled work from work that is slow or has a reason to pause. */
export class DaemonVitals {
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
    if (activity !== null && activity.pause !== null) return 'command';
    if (this.#isAskedToPause) return 'asked';
    if (activity?.platformOutOfReach === true) return 'outage';
    return activity !== null && activity.blocked !== null ? 'blockade' : null;
  }

  /** Names of the stages without progress. Read every few seconds. */
  get standingStill(): string[] {
    const { stallTimeoutMs, maxBytesPerSecond } = this.#ports.uploadSettings();
    // A piece of content may have to wait for the configured speed limit.
    const bytesPerSecond = lowestRate(maxBytesPerSecond);
    const pieceMs = bytesPerSecond === null ? 0 : (PIECE_BYTES / bytesPerSecond) * 1000;
    // While a store buffers there is no visible progress; the transfer times out before it counts as a standstill.
    const longestMs = longestWaitMs(stallTimeoutMs) + stallTimeoutMs;
    return this.#pulse.standsStill(Math.max(SHORTEST_STANDSTILL_MS, longestMs, pieceMs * 3));
  }

  get #isAskedToPause(): boolean {
    return this.#ports.pausedForMs() > 0;
  }
}
