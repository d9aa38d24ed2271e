import { isHalt, type FileEvent, type Summary } from '../../domain/report.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { createLog, type Log } from '../../service/logger.ts';
import type { Metrics } from '../../service/metrics.ts';
import type { ServiceManager } from '../../service/systemd-notify.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import type { Verified } from '../../sync/plan/verify.ts';
import type { DaemonObserver, Refusal, Trigger } from '../../sync/daemon/daemon-observer.ts';
import type { Reporter } from '../../sync/pass/reporter.ts';
import { logSettings } from '../command-log.ts';
import type { GlobalOptions } from '../global-options.ts';
import { Repetitions } from '../../library/daemon/repetitions.ts';
import { drainOutput, neverWaitForReaders, shown, writeLog } from './output.ts';
import { printJson } from './print-json.ts';
import { describeVerified } from './verify-report.ts';
import { describeSummary } from './pass-report.ts';

/** The platform refuses: what is said when it begins, and when it is over. */
const REFUSED: Readonly<Record<Refusal, { readonly began: string; readonly over: string }>> = {
  credentials: {
    began: 'the platform refuses the credentials; what needs them waits, and is tried again now and then',
    over: 'the platform takes the credentials again',
  },
  quota: {
    began:
      'the platform takes nothing that needs more room; that waits, and is tried again now and then: remove files there, or raise the quota',
    over: 'the platform takes what needs room again',
  },
};

/** So many differences of one comparison are logged; the rest are counted. */
const DIFFERENCES_LOGGED = 100;

/** What the view asks of the daemon around it. */
export interface ViewPorts {
  /** `null` until they are loaded. */
  readonly metrics: () => Metrics | null;
  readonly passEnded: () => void;
  /** What to do when the platform refuses the credentials. */
  readonly howToRenewCredentials: () => string;
}

/** What a daemon tells: log lines, results as JSON Lines with `--json`, metrics, and a line for the service manager. */
export class DaemonView implements Reporter, DaemonObserver {
  readonly log: Log;
  /** When a pass last ended with everything in sync, epoch milliseconds. */
  lastSuccessMs: number | null = null;
  /** Whether the service manager was told that the daemon is up. */
  isReady = false;
  readonly #json: boolean;
  /** Whether the log is read as it is written, by a person. */
  readonly #isForPeople: boolean;
  readonly #getMetrics: () => Metrics | null;
  readonly #onPassEnded: () => void;
  readonly #serviceManager: ServiceManager;
  #overdue = 0;
  /** Found by the comparison that is under way. */
  #differences = 0;
  #wasInSync: boolean | null = null;
  readonly #repetitions = new Repetitions();
  readonly #howToRenew: () => string;

  /** @param ports - asked each time: they are loaded later than the first line is logged, or change with a reload. */
  constructor(options: GlobalOptions, serviceManager: ServiceManager, ports: ViewPorts) {
    const settings = logSettings(options, process.stderr.isTTY);
    this.log = createLog({ ...settings, level: options.logLevel ?? 'info' }, writeLog);
    this.#json = options.json;
    this.#isForPeople = settings.format === 'pretty';
    this.#getMetrics = ports.metrics;
    this.#onPassEnded = ports.passEnded;
    this.#howToRenew = ports.howToRenewCredentials;
    this.#serviceManager = serviceManager;
    neverWaitForReaders({
      1: {
        dropping: () => {
          this.log.error('standard output is not being read; results are dropped until it is');
        },
        resumed: (lines) => {
          printJson({ kind: 'dropped', lines });
          this.log.warn('standard output is being read again', { droppedLines: lines });
        },
      },
      2: {
        dropping: () => undefined,
        resumed: (lines) => {
          this.log.error(`${lines} lines of the log were dropped, because nothing read them`);
        },
      },
    });
  }

  /** Lets the readers of results and log have the rest, if they read. */
  async end(): Promise<void> {
    const results = await drainOutput();
    if (results > 0) this.log.error(`${results} results were dropped, because nothing read standard output`);
  }

  event(event: FileEvent): void {
    if (this.#json) printJson(event);
    const { kind, outcome, ...fields } = event;
    const what = outcome === 'failed' ? `${kind} failed` : kind;
    const isTrouble = outcome === 'failed' || kind === 'problem' || kind === 'refuse';
    const isDetail = kind === 'skip' || kind === 'confirm';
    const isTold = this.#repetitions.isToldFailure(event.error);
    const level = isHalt(event) ? 'error' : isDetail || isTold ? 'debug' : isTrouble ? 'warn' : 'info';
    if (this.#isForPeople) this.log[level](describe(what, event));
    else this.log[level](what, fields);
    this.#measure(event);
  }

  warn(message: string): void {
    this.log.warn(message);
  }

  retrying(path: string, reason: string, delayMs: number): void {
    this.#metrics?.retried();
    this.log.info('trying again', { path, reason, delayMs: Math.round(delayMs) });
  }

  sent(bytes: number): void {
    this.#metrics?.sent(bytes);
  }

  passBegan(trigger: Trigger): void {
    this.log.debug('pass begins', { trigger });
    // Whatever changes from now on is noticed.
    if (trigger !== 'start') return;
    this.isReady = true;
    this.#serviceManager.ready('looking at everything');
  }

  passEnded(trigger: Trigger, sources: readonly string[], summary: Summary, exitCode: number): void {
    if (this.#json) printJson({ kind: 'summary', ...summary });
    const [line = ''] = describeSummary(summary, false, false);
    const isInSync = exitCode === EXIT.ok;
    if (isInSync) this.lastSuccessMs = Date.now();
    const { uploaded, renewed, removed } = summary;
    const isNews = trigger !== 'rescan' || isInSync !== this.#wasInSync || uploaded + renewed + removed > 0;
    this.#wasInSync = isInSync;
    const isTold = this.#repetitions.isToldPass(summary);
    const level = isInSync ? (isNews ? 'info' : 'debug') : isTold ? 'debug' : 'warn';
    if (this.#isForPeople)
      this.log[level](trigger === 'start' ? `${line}; watching for changes, Ctrl-C ends it` : line);
    else this.log[level](line, { trigger });
    this.#serviceManager.status(line);
    this.#onPassEnded();
    if (trigger !== 'rescan') return;
    for (const source of sources) this.#metrics?.rescanned(source);
  }

  eventsLost(source: string, reason: string): void {
    this.log.info('everything is looked at again', { source, reason });
  }

  watchLimited(source: string, message: string): void {
    this.log.warn(message, { source });
  }

  foundByRescan(source: string): void {
    this.#metrics?.foundByRescan(source);
  }

  renewalsOverdue(count: number): void {
    if (count > this.#overdue)
      this.log.error('files will expire that could not be renewed in time', { files: count });
    else if (count === 0 && this.#overdue > 0) this.log.info('all files are renewed again');
    this.#overdue = count;
  }

  refused(kind: Refusal, reason: string | null): void {
    const { began, over } = REFUSED[kind];
    this.#repetitions.refused(kind, reason);
    const whatToDo = kind === 'credentials' ? `: ${this.#howToRenew()}` : '';
    if (reason === null) this.log.info(over);
    else this.log.error(`${began}${whatToDo}`, { reason });
  }

  differenceFound({ source, path, key, reason, detail }: FileDifference): void {
    if (this.#json) printJson({ kind: 'verify', source, path, key, reason, detail });
    this.#differences += 1;
    if (this.#differences > DIFFERENCES_LOGGED) return;
    if (this.#isForPeople) this.log.warn(`${reason} ${shown(`${source}:${path ?? key}`)} (${shown(detail)})`);
    else this.log.warn('not as it was sent', { source, path, key, reason, detail });
  }

  verified(verified: Verified): void {
    if (this.#json) printJson({ kind: 'verification', ...verified });
    this.log[this.#differences > 0 ? 'warn' : 'info'](describeVerified(verified));
    this.#differences = 0;
    this.#metrics?.verified(Date.now(), verified.reasons);
  }

  get #metrics(): Metrics | null {
    return this.#getMetrics();
  }

  #measure({ kind, source, outcome }: FileEvent): void {
    if (kind === 'remove' && outcome === 'done') this.#metrics?.removed(source);
    if (kind === 'refuse') this.#metrics?.uploadEnded(source, 'refused');
    if ((kind === 'upload' || kind === 'renew') && outcome !== undefined)
      this.#metrics?.uploadEnded(source, outcome === 'failed' ? 'failed' : 'done');
  }
}

function describe(what: string, { source, path, reason, error }: FileEvent): string {
  return `${what} ${shown(`${source}:${path}`)} (${shown(error ?? reason)})`;
}
