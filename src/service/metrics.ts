import { readdirSync } from 'node:fs';
import type { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { OptionalFailure } from '../domain/failure.ts';
import { ClusterMetrics, type ClusterMeasures } from './cluster-metrics.ts';

/** The state of a file, as counted by `botsync status`. */
export type FileState =
  | 'in-sync'
  | 'unconfirmed'
  | 'unsearchable'
  | 'sending'
  | 'pending'
  | 'failed'
  | 'refused'
  | 'problem'
  | 'to-remove'
  | 'kept';

/** The status that the platform reports for files in sync; `unknown` if it was not or cannot be asked. */
export type FileWord = 'stored' | 'searchable' | 'unknown';

export interface SourceMeasures {
  readonly name: string;
  readonly files: Readonly<Record<FileState, number>>;
  /** Files in sync by platform status. */
  readonly words: Readonly<Record<FileWord, number>>;
  /** Epoch milliseconds of the next expiry; `null` without one. */
  readonly nextExpiryMs: number | null;
  /** Files that should have been renewed by now. */
  readonly overdueRenewals: number;
  readonly watchedDirectories: number;
  readonly isHalted: boolean;
  /** Epoch milliseconds of the end of the last pass that left everything in sync; `null` without one. */
  readonly lastSuccessMs: number | null;
}

/** `upsert` and `upload` send a file; the others are about files on the platform. */
export type RequestOperation = 'upsert' | 'upload' | 'list' | 'get' | 'update' | 'delete';

export type RequestOutcome = 'ok' | OptionalFailure['kind'];

/** The result of a file's sending, after all attempts. */
export type UploadResult = 'done' | 'refused' | 'failed';

/** `dropped` is not retried. */
export type NotificationOutcome = 'sent' | 'failed' | 'dropped';

/**
 * Why nothing was sent for a while: a command paused the service, or the platform asked for a pause, was unreachable,
 * or refused credentials or quota.
 */
export type PauseReason = 'command' | 'asked' | 'outage' | 'blockade';

const OPERATIONS: readonly RequestOperation[] = ['upsert', 'upload', 'list', 'get', 'update', 'delete'];
const OUTCOMES: readonly RequestOutcome[] = ['ok', 'credentials', 'quota', 'refused', 'transient'];
const RESULTS: readonly UploadResult[] = ['done', 'refused', 'failed'];
const NOTIFICATIONS: readonly NotificationOutcome[] = ['sent', 'failed', 'dropped'];
const PAUSES: readonly PauseReason[] = ['command', 'asked', 'outage', 'blockade'];

/** In seconds: from a platform nearby to a gigabyte over a slow line. */
const LATENCY_BUCKETS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000];

/**
 * Creates the metrics of a daemon. Loads their library here, since other commands do not need it.
 *
 * @param version - of botsync.
 * @param measure - called once for each rendering.
 */
export async function createMetrics(
  version: string,
  measure: () => readonly SourceMeasures[],
): Promise<Metrics> {
  // In a bundle a CommonJS module has only a default export.
  const { default: library } = await import('prom-client');
  return new Metrics(library, version, measure);
}

/** Counts the daemon's work, for Prometheus. Nothing runs between requests for metrics. */
class Metrics {
  readonly #library: typeof import('prom-client');
  readonly #registry: Registry;
  readonly #measure: () => readonly SourceMeasures[];
  readonly #files: Gauge<'source' | 'state'>;
  readonly #words: Gauge<'source' | 'word'>;
  readonly #nextExpiry: Gauge<'source'>;
  readonly #overdueRenewals: Gauge<'source'>;
  readonly #watchedDirectories: Gauge<'source'>;
  readonly #halted: Gauge<'source'>;
  readonly #lastSuccess: Gauge<'source'>;
  readonly #sentBytes: Counter;
  readonly #uploads: Counter<'source' | 'result'>;
  readonly #requests: Counter<'operation' | 'outcome'>;
  readonly #latency: Histogram<'operation'>;
  readonly #retries: Counter;
  readonly #paused: Gauge<'reason'>;
  readonly #pauses: Counter<'reason'>;
  readonly #pauseSeconds: Counter<'reason'>;
  readonly #rescans: Counter<'source'>;
  readonly #rescanOnly: Counter<'source'>;
  readonly #removals: Counter<'source'>;
  readonly #notifications: Counter<'outcome'>;
  readonly #differences: Gauge<'reason'>;
  readonly #lastVerification: Gauge<never>;
  readonly #configurationRead: Gauge<never>;
  /** `null` without a cluster. */
  #cluster: ClusterMetrics | null = null;

  constructor(
    library: typeof import('prom-client'),
    version: string,
    measure: () => readonly SourceMeasures[],
  ) {
    const registry = new library.Registry();
    const counter = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
      new library.Counter({ name, help, labelNames, registers: [registry] });
    const gauge = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
      new library.Gauge({ name, help, labelNames, registers: [registry] });
    this.#library = library;
    this.#registry = registry;
    this.#measure = measure;
    this.#files = gauge(
      'botsync_files',
      'Files by state: in-sync, unconfirmed (sent, but not confirmed yet), unsearchable, sending, pending (blocked by a problem that affects all files), failed, refused, problem (cannot be read, or may not be sent), to-remove, or kept (on the platform, no longer synced).',
      ['source', 'state'],
    );
    this.#words = gauge(
      'botsync_files_in_sync',
      'Files in sync by the status that the platform reported: stored, searchable, or unknown.',
      ['source', 'word'],
    );
    this.#nextExpiry = gauge(
      'botsync_next_expiry_timestamp_seconds',
      'When the platform deletes the next file; absent if no file expires.',
      ['source'],
    );
    this.#overdueRenewals = gauge('botsync_overdue_renewals', 'Files whose renewal is overdue.', ['source']);
    this.#watchedDirectories = gauge(
      'botsync_watched_directories',
      'Directories that are watched for changes.',
      ['source'],
    );
    this.#halted = gauge('botsync_source_halted', '1 if the source is halted, otherwise 0.', ['source']);
    this.#lastSuccess = gauge(
      'botsync_last_success_timestamp_seconds',
      'When a pass last ended with everything in sync; 0 if none did.',
      ['source'],
    );
    this.#sentBytes = counter('botsync_sent_bytes_total', 'Content bytes sent, including failed attempts.');
    this.#uploads = counter('botsync_uploads_total', 'Files whose sending ended, by result.', [
      'source',
      'result',
    ]);
    this.#requests = counter('botsync_requests_total', 'Requests, by operation and outcome.', [
      'operation',
      'outcome',
    ]);
    this.#latency = new library.Histogram({
      name: 'botsync_request_duration_seconds',
      help: 'Duration of requests, including content.',
      labelNames: ['operation'],
      buckets: LATENCY_BUCKETS,
      registers: [registry],
    });
    this.#retries = counter('botsync_retries_total', 'Retries of files.');
    this.#paused = gauge('botsync_paused', '1 while sending is paused for this reason, otherwise 0.', [
      'reason',
    ]);
    this.#pauses = counter('botsync_pauses_total', 'Pauses in sending, by reason.', ['reason']);
    this.#pauseSeconds = counter('botsync_pause_seconds_total', 'Total length of these pauses.', ['reason']);
    this.#rescans = counter('botsync_rescans_total', 'Rescans of a whole source.', ['source']);
    this.#rescanOnly = counter(
      'botsync_rescan_only_changes_total',
      'Changes found by a rescan without an event.',
      ['source'],
    );
    this.#removals = counter('botsync_removals_total', 'Files removed from the platform.', ['source']);
    this.#notifications = counter('botsync_notifications_total', 'Notifications, by outcome.', ['outcome']);
    this.#differences = gauge(
      'botsync_verify_differences',
      'Files that the last verification found on the platform to differ from what was sent, by reason.',
      ['reason'],
    );
    this.#lastVerification = gauge(
      'botsync_last_verification_timestamp_seconds',
      'When the last verification ended; 0 if there was none.',
      [],
    );
    this.#configurationRead = gauge(
      'botsync_config_last_reload_successful',
      '1 if the configuration was loaded when it was last read, 0 if it cannot be loaded and an older one is in use.',
      [],
    );
    this.#configurationRead.set(1);
    gauge('botsync_build_info', '1, with the versions of botsync and Node.', ['version', 'node']).set(
      { version, node: process.versions.node },
      1,
    );
    for (const operation of OPERATIONS) {
      for (const outcome of OUTCOMES) this.#requests.inc({ operation, outcome }, 0);
      this.#latency.zero({ operation });
    }
    for (const outcome of NOTIFICATIONS) this.#notifications.inc({ outcome }, 0);
    this.pausedBy(null);
    for (const reason of PAUSES) {
      this.#pauses.inc({ reason }, 0);
      this.#pauseSeconds.inc({ reason }, 0);
    }
    measureProcess(library, registry);
  }

  /** Counts content bytes. */
  sent(sizeBytes: number): void {
    this.#sentBytes.inc(sizeBytes);
  }

  uploadEnded(source: string, result: UploadResult): void {
    this.#uploads.inc({ source, result });
  }

  requestEnded(operation: RequestOperation, outcome: RequestOutcome, seconds: number): void {
    this.#requests.inc({ operation, outcome });
    this.#latency.observe({ operation }, seconds);
  }

  retried(): void {
    this.#retries.inc();
  }

  /** Counts a pause at its beginning, so that it shows while it lasts. */
  pauseBegan(reason: PauseReason): void {
    this.#pauses.inc({ reason });
  }

  /** Sets why sending is paused now; `null`: it is not. */
  pausedBy(current: PauseReason | null): void {
    for (const reason of PAUSES) this.#paused.set({ reason }, reason === current ? 1 : 0);
  }

  /** Adds to the length of pauses. */
  pauseWentOn(reason: PauseReason, seconds: number): void {
    this.#pauseSeconds.inc({ reason }, seconds);
  }

  /** Counts a rescan of a whole source that no event caused. */
  rescanned(source: string): void {
    this.#rescans.inc({ source });
  }

  /** Counts a change that a rescan found without an event. */
  foundByRescan(source: string): void {
    this.#rescanOnly.inc({ source });
  }

  removed(source: string): void {
    this.#removals.inc({ source });
  }

  notificationEnded(outcome: NotificationOutcome): void {
    this.#notifications.inc({ outcome });
  }

  /** Records a verification with its number of differences by reason. */
  verified(finishedAtMs: number, reasons: Readonly<Record<string, number>>): void {
    this.#differences.reset();
    for (const [reason, count] of Object.entries(reasons)) this.#differences.set({ reason }, count);
    this.#lastVerification.set(finishedAtMs / 1000);
  }

  configurationRead(isLoaded: boolean): void {
    this.#configurationRead.set(isLoaded ? 1 : 0);
  }

  /** Adds the metrics of a cluster. `measure`: called once for each rendering. */
  joinCluster(measure: () => ClusterMeasures): ClusterMetrics {
    this.#cluster = new ClusterMetrics(this.#library, this.#registry, measure);
    return this.#cluster;
  }

  async render(): Promise<{ readonly contentType: string; readonly body: string }> {
    this.#takeMeasures();
    this.#cluster?.takeMeasures();
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() };
  }

  #takeMeasures(): void {
    // A source may have left the configuration since.
    for (const gauge of [
      this.#files,
      this.#words,
      this.#nextExpiry,
      this.#overdueRenewals,
      this.#watchedDirectories,
      this.#halted,
      this.#lastSuccess,
    ])
      gauge.reset();
    for (const measures of this.#measure()) {
      const source = measures.name;
      for (const [state, count] of Object.entries(measures.files)) this.#files.set({ source, state }, count);
      for (const [word, count] of Object.entries(measures.words)) this.#words.set({ source, word }, count);
      if (measures.nextExpiryMs !== null) this.#nextExpiry.set({ source }, measures.nextExpiryMs / 1000);
      this.#overdueRenewals.set({ source }, measures.overdueRenewals);
      this.#watchedDirectories.set({ source }, measures.watchedDirectories);
      this.#halted.set({ source }, measures.isHalted ? 1 : 0);
      this.#lastSuccess.set({ source }, (measures.lastSuccessMs ?? 0) / 1000);
      // A rate needs the zero before the first event.
      for (const result of RESULTS) this.#uploads.inc({ source, result }, 0);
      for (const counter of [this.#rescans, this.#rescanOnly, this.#removals]) counter.inc({ source }, 0);
    }
  }
}

export type { Metrics };

/**
 * Adds the usual metrics of a process under their usual names, measured only on request. The library's own set
 * would watch the event loop all the time, which costs more than everything else an idle daemon does.
 */

function measureProcess(library: typeof import('prom-client'), registry: Registry): void {
  const registers = [registry];
  new library.Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time used, in user and system mode.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  new library.Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory in use.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new library.Gauge({
    name: 'process_start_time_seconds',
    help: 'When the process started.',
    registers,
  }).set(Math.round(performance.timeOrigin) / 1000);
  if (process.platform !== 'linux') return;
  new library.Gauge({
    name: 'process_open_fds',
    help: 'Open file descriptors.',
    registers,
    collect() {
      // One of them belongs to this listing.
      this.set(readdirSync('/proc/self/fd').length - 1);
    },
  });
}
