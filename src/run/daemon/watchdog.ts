import { HangWatch } from '../../service/hang-watch.ts';
import type { Config } from '../../config/config.ts';
import type { Log } from '../../service/logger.ts';
import type { Metrics, PauseReason } from '../../service/metrics.ts';
import type { ServiceManager } from '../../service/systemd-notify.ts';

/** Check interval, milliseconds. */
const LOOK_MS = 2000;

export interface Vitals {
  /** Names of the stages without progress. Read every few seconds. */
  readonly standingStill: readonly string[];
  /** Why nothing is sent at the moment; `null`: something may be. */
  readonly pausedBy: PauseReason | null;
}

/** Checks periodically that the daemon works or idles, and notifies the service manager while it does. */
export class Watchdog {
  readonly #vitals: Vitals;
  readonly #serviceManager: ServiceManager;
  readonly #metrics: Metrics;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #fedAtMs = -Infinity;
  #pause: { readonly reason: PauseReason; readonly countedUntilMs: number } | null = null;
  #told = '';

  constructor(vitals: Vitals, serviceManager: ServiceManager, metrics: Metrics, log: Log) {
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
