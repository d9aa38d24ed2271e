import { EXIT } from '../../domain/exit-code.ts';
import type { FileEvent, Summary } from '../../domain/report.ts';
import type { Metrics } from '../../service/metrics.ts';
import type { ServiceManager } from '../../service/systemd-notify.ts';
import type { Trigger } from '../../sync/daemon/daemon-observer.ts';
import type { Verified } from '../../sync/plan/verify.ts';
import type { SyncObserver } from '../observer.ts';

/** What a daemon does as numbers: metrics, when all was last in sync, and whether it is up. */
export class DaemonMeasures implements SyncObserver {
  /** When a pass last ended with everything in sync, epoch milliseconds. */
  lastSuccessMs: number | null = null;
  /** Whether the service manager was told that the daemon is up. */
  isReady = false;
  /** Whether it was told last that this host cannot take part in its cluster. */
  #isWaiting = false;
  readonly #serviceManager: Pick<ServiceManager, 'ready' | 'status'>;
  readonly #getMetrics: () => Metrics | null;
  readonly #onPassEnded: () => void;

  /** @param getMetrics - asked each time: they are loaded later than the first event comes. */
  constructor(
    serviceManager: Pick<ServiceManager, 'ready' | 'status'>,
    getMetrics: () => Metrics | null,
    onPassEnded: () => void,
  ) {
    this.#serviceManager = serviceManager;
    this.#getMetrics = getMetrics;
    this.#onPassEnded = onPassEnded;
  }

  event({ kind, source, outcome }: FileEvent): void {
    if (kind === 'remove' && outcome === 'done') this.#metrics?.removed(source);
    if (kind === 'refuse') this.#metrics?.uploadEnded(source, 'refused');
    if ((kind === 'upload' || kind === 'renew') && outcome !== undefined)
      this.#metrics?.uploadEnded(source, outcome === 'failed' ? 'failed' : 'done');
  }

  retrying(): void {
    this.#metrics?.retried();
  }

  sent(bytes: number): void {
    this.#metrics?.sent(bytes);
  }

  passBegan(trigger: Trigger): void {
    // Whatever changes from now on is noticed.
    if (trigger !== 'start') return;
    this.isReady = true;
    this.#serviceManager.ready('full pass running');
  }

  /**
   * How this host's part in its cluster stands. While it takes part whoever syncs a source notices what changes. While it does
   * not, it is up all the same: the service manager would else wait for a database, or for a name, until it gives the start up.
   *
   * @param trouble - why it cannot take part; `null`: it takes part.
   */
  standsInCluster(trouble: string | null): void {
    const status = trouble === null ? 'takes part in the cluster' : `waits: ${trouble}`;
    const isNews = trouble !== null || this.#isWaiting;
    this.#isWaiting = trouble !== null;
    if (this.isReady) {
      if (isNews) this.#serviceManager.status(status);
      return;
    }
    this.isReady = true;
    this.#serviceManager.ready(status);
  }

  passEnded(trigger: Trigger, sources: readonly string[], _summary: Summary, exitCode: number): void {
    if (exitCode === EXIT.ok) this.lastSuccessMs = Date.now();
    this.#onPassEnded();
    if (trigger !== 'rescan') return;
    for (const source of sources) this.#metrics?.rescanned(source);
  }

  foundByRescan(source: string): void {
    this.#metrics?.foundByRescan(source);
  }

  verified({ reasons }: Verified): void {
    this.#metrics?.verified(Date.now(), reasons);
  }

  get #metrics(): Metrics | null {
    return this.#getMetrics();
  }
}
