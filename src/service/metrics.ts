import type { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { OptionalFailure } from '../domain/failure.ts';
import { ClusterMetrics, type ClusterMeasures } from './cluster-metrics.ts';
import { measureProcess } from './process-metrics.ts';

/** How a file stands: the counts of `botsync status`. */
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

/** What the platform says of files that are in sync; `unknown`: it was not asked, or cannot be. */
export type FileWord = 'stored' | 'searchable' | 'unknown';

/** What is measured of a source at the moment of asking. */
export interface SourceMeasures {
  readonly name: string;
  readonly files: Readonly<Record<FileState, number>>;
  /** Files in sync, by what the platform says of them. */
  readonly words: Readonly<Record<FileWord, number>>;
  /** Epoch milliseconds of the next file that the platform deletes; `null`: none. */
  readonly nextExpiryMs: number | null;
  /** Files whose time to be sent again has come and that were not. */
  readonly overdueRenewals: number;
  readonly watchedDirectories: number;
  readonly isHalted: boolean;
  /** Epoch milliseconds of the end of the last pass after which everything was in sync; `null`: there was none. */
  readonly lastSuccessMs: number | null;
}

/** The two requests of an upload, to the platform and to its store, and those about what the platform has. */
export type RequestOperation = 'upsert' | 'upload' | 'list' | 'get' | 'update' | 'delete';

/** How a request ended. */
export type RequestOutcome = 'ok' | OptionalFailure['kind'];

/** How the sending of a file ended, all attempts together. */
export type UploadResult = 'done' | 'refused' | 'failed';

/** The outcome of a message to people; `dropped` is not tried again. */
export type NotificationOutcome = 'sent' | 'failed' | 'dropped';

/** Why nothing was sent for a while: the platform asked for it, was unreachable, or refused credentials or quota. */
export type PauseReason = 'asked' | 'outage' | 'blockade';

const OPERATIONS: readonly RequestOperation[] = ['upsert', 'upload', 'list', 'get', 'update', 'delete'];
const OUTCOMES: readonly RequestOutcome[] = ['ok', 'credentials', 'quota', 'refused', 'transient'];
const RESULTS: readonly UploadResult[] = ['done', 'refused', 'failed'];
const NOTIFICATIONS: readonly NotificationOutcome[] = ['sent', 'failed', 'dropped'];
const PAUSES: readonly PauseReason[] = ['asked', 'outage', 'blockade'];

/** Seconds: from a platform nearby to a gigabyte over a slow line. */
const LATENCY_BUCKETS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000];

/**
 * Makes the metrics of a daemon. Their library is loaded here: commands that measure nothing do without it.
 *
 * @param version - of botsync.
 * @param measure - asked once each time the metrics are rendered.
 */
export async function createMetrics(
  version: string,
  measure: () => readonly SourceMeasures[],
): Promise<Metrics> {
  // In a bundle a CommonJS module has no other export than this.
  const { default: library } = await import('prom-client');
  return new Metrics(library, version, measure);
}

/** Counts what the daemon does, for Prometheus. Nothing runs while nobody asks: the cost is that of counting. */
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
  readonly #pauses: Counter<'reason'>;
  readonly #pauseSeconds: Counter<'reason'>;
  readonly #rescans: Counter<'source'>;
  readonly #rescanOnly: Counter<'source'>;
  readonly #removals: Counter<'source'>;
  readonly #notifications: Counter<'outcome'>;
  readonly #differences: Gauge<'reason'>;
  readonly #lastVerification: Gauge<never>;
  /** `null`: this host is in no cluster. */
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
    gauge('botsync_build_info', '1, with the versions of botsync and Node.', ['version', 'node']).set(
      { version, node: process.versions.node },
      1,
    );
    for (const operation of OPERATIONS) {
      for (const outcome of OUTCOMES) this.#requests.inc({ operation, outcome }, 0);
      this.#latency.zero({ operation });
    }
    for (const outcome of NOTIFICATIONS) this.#notifications.inc({ outcome }, 0);
    for (const reason of PAUSES) {
      this.#pauses.inc({ reason }, 0);
      this.#pauseSeconds.inc({ reason }, 0);
    }
    measureProcess(library, registry);
  }

  /** Content bytes were sent. */
  sent(sizeBytes: number): void {
    this.#sentBytes.inc(sizeBytes);
  }

  /** The sending of a file ended. */
  uploadEnded(source: string, result: UploadResult): void {
    this.#uploads.inc({ source, result });
  }

  /** A request ended, so many seconds after it began. */
  requestEnded(operation: RequestOperation, outcome: RequestOutcome, seconds: number): void {
    this.#requests.inc({ operation, outcome });
    this.#latency.observe({ operation }, seconds);
  }

  /** A file is sent once more after a failure. */
  retried(): void {
    this.#retries.inc();
  }

  /** A pause begins. It is counted now, so that it shows while it lasts. */
  pauseBegan(reason: PauseReason): void {
    this.#pauses.inc({ reason });
  }

  /** A pause has lasted so many seconds more. */
  pauseWentOn(reason: PauseReason, seconds: number): void {
    this.#pauseSeconds.inc({ reason }, seconds);
  }

  /** A whole source was rescanned, without an event that said so. */
  rescanned(source: string): void {
    this.#rescans.inc({ source });
  }

  /** A rescan found a change that no event had told of. */
  foundByRescan(source: string): void {
    this.#rescanOnly.inc({ source });
  }

  /** A file was removed from the platform. */
  removed(source: string): void {
    this.#removals.inc({ source });
  }

  /** A message to people was tried. */
  notificationEnded(outcome: NotificationOutcome): void {
    this.#notifications.inc({ outcome });
  }

  /** A verification ended, with so many differences by reason. */
  verified(finishedAtMs: number, reasons: Readonly<Record<string, number>>): void {
    this.#differences.reset();
    for (const [reason, count] of Object.entries(reasons)) this.#differences.set({ reason }, count);
    this.#lastVerification.set(finishedAtMs / 1000);
  }

  /** What this host does in a cluster is counted from now on. `measure`: asked once each time the metrics are rendered. */
  joinCluster(measure: () => ClusterMeasures): ClusterMetrics {
    this.#cluster = new ClusterMetrics(this.#library, this.#registry, measure);
    return this.#cluster;
  }

  /** All of it as text. */
  async render(): Promise<{ readonly contentType: string; readonly body: string }> {
    this.#takeMeasures();
    this.#cluster?.takeMeasures();
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() };
  }

  #takeMeasures(): void {
    // A source may have left the config since.
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
      // A rate needs the zero that comes before the first event.
      for (const result of RESULTS) this.#uploads.inc({ source, result }, 0);
      for (const counter of [this.#rescans, this.#rescanOnly, this.#removals]) counter.inc({ source }, 0);
    }
  }
}

export type { Metrics };
