import { listener } from '../../sync/events.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { FileWord, FileState, Metrics, SourceMeasures } from '../../service/metrics.ts';
import type { ServiceManager } from '../../service/systemd-notify.ts';
import type { Overview, SourceStatus } from '../../domain/status.ts';

/** Feeds the metrics, and tracks when everything was last in sync and whether the daemon is ready. */
export class DaemonMeasures {
  /** When a pass last ended with everything in sync, epoch milliseconds. */
  lastSuccessMs: number | null = null;
  /** True once the service manager was notified that the daemon is ready. */
  isReady = false;
  /** True if the last report was that this host cannot take part in its cluster. */
  #isWaiting = false;
  readonly #serviceManager: Pick<ServiceManager, 'ready' | 'status'>;
  readonly #metrics: Metrics;
  readonly #onPassEnded: () => void;

  constructor(
    serviceManager: Pick<ServiceManager, 'ready' | 'status'>,
    metrics: Metrics,
    onPassEnded: () => void,
  ) {
    this.#serviceManager = serviceManager;
    this.#metrics = metrics;
    this.#onPassEnded = onPassEnded;
  }

  readonly listener = listener({
    file: ({ file: { kind, source, outcome } }) => {
      if (kind === 'remove' && outcome === 'done') this.#metrics.removed(source);
      if (kind === 'refuse') this.#metrics.uploadEnded(source, 'refused');
      if ((kind === 'upload' || kind === 'renew') && outcome !== undefined)
        this.#metrics.uploadEnded(source, outcome === 'failed' ? 'failed' : 'done');
    },
    retrying: () => {
      this.#metrics.retried();
    },
    sent: ({ bytes }) => {
      this.#metrics.sent(bytes);
    },
    'pass-began': ({ trigger }) => {
      // Changes are noticed from now on.
      if (trigger !== 'start') return;
      this.isReady = true;
      this.#serviceManager.ready('full pass running');
    },
    'pass-ended': ({ trigger, sources, exitCode }) => {
      if (exitCode === EXIT.ok) this.lastSuccessMs = Date.now();
      this.#onPassEnded();
      if (trigger !== 'rescan') return;
      for (const source of sources) this.#metrics.rescanned(source);
    },
    'found-by-rescan': ({ source }) => {
      this.#metrics.foundByRescan(source);
    },
    verified: ({ verified: { reasons } }) => {
      this.#metrics.verified(Date.now(), reasons);
    },
  });

  /**
   * Reports this host's part in its cluster to the service manager. A host that cannot take part is ready too:
   * otherwise the service manager would wait for a database or a name until the start times out.
   *
   * @param trouble - why this host cannot take part; `null`: it takes part.
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
}

/**
 * Returns the values of the metrics by source. `lastSuccessMs`: epoch milliseconds; `null`: nothing was in sync yet.
 */
export function measure(
  { sources }: Overview,
  watchedDirectories: ReadonlyMap<string, number>,
  lastSuccessMs: number | null,
): SourceMeasures[] {
  return sources.map(({ name, halted, nextExpiry, expiring, ...counts }) => ({
    name,
    files: statesOf(counts),
    words: wordsOf(counts),
    nextExpiryMs: nextExpiry === null ? null : Date.parse(nextExpiry),
    overdueRenewals: expiring,
    watchedDirectories: watchedDirectories.get(name) ?? 0,
    isHalted: halted !== null,
    lastSuccessMs,
  }));
}
type Counts = Omit<SourceStatus, 'name' | 'halted' | 'halt' | 'nextExpiry' | 'expiring'>;
function statesOf(counts: Counts): Record<FileState, number> {
  const { files, unconfirmed, unsearchable, sending, pending, failed, refused, problems } = counts;
  return {
    'in-sync': files,
    ...{ unconfirmed, unsearchable, sending, pending, failed, refused, problem: problems },
    'to-remove': counts.toRemove,
    kept: counts.kept,
  };
}
function wordsOf({ files, stored, searchable }: Counts): Record<FileWord, number> {
  return { stored, searchable, unknown: files - stored - searchable };
}
