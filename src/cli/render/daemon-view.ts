import type { Config } from '../../config/config.ts';
import type { FileEvent, Summary } from '../../domain/report.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { GRACE_MS } from '../../service/stop-signals.ts';
import { createLog, type StyledLog } from '../../service/logger.ts';
import type { Metrics } from '../../service/metrics.ts';
import type { ServiceManager } from '../../service/systemd-notify.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import type { Verified } from '../../sync/plan/verify.ts';
import type { DaemonObserver, Refusal, Trigger } from '../../sync/daemon/daemon-observer.ts';
import type { OutgoingFile, Reporter, Transferred, TransferWatch } from '../../sync/pass/reporter.ts';
import { logReader, logSettings } from '../command-log.ts';
import type { GlobalOptions } from '../global-options.ts';
import { Repetitions } from '../../library/daemon/repetitions.ts';
import { durationText } from './amounts.ts';
import { eventLevel, eventWords, retryWords } from './event-words.ts';
import { describeInFlight } from './in-flight.ts';
import { drainOutput, neverWaitForReaders } from './output.ts';
import { placeOf } from './place.ts';
import { printJson } from './print-json.ts';
import { describeVerified } from './verify-report.ts';
import { describeSummary, summaryWords } from './pass-report.ts';
import { waitingFor, type Greeting } from './greeting.ts';
import { ProgressWatch, type Standing } from './progress-watch.ts';

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

/** What a view asks for, each time anew: most of it comes up later than the first line is logged. */
export interface DaemonViewPorts {
  readonly metrics: () => Metrics | null;
  readonly watchSettings: () => Config['watch'];
  /** `null` while no daemon runs. */
  readonly standing: () => Standing | null;
  readonly onPassEnded: () => void;
  /** What to do when the platform refuses the credentials. */
  readonly howToRenewCredentials: () => string;
}

/** What a daemon tells: log lines, results as JSON Lines with `--json`, metrics, and a line for the service manager. */
export class DaemonView implements Reporter, DaemonObserver {
  readonly log: StyledLog;
  /** Whether a progress line is shown. */
  readonly showsProgress: boolean;
  /** When a pass last ended with everything in sync, epoch milliseconds. */
  lastSuccessMs: number | null = null;
  /** Whether the service manager was told that the daemon is up. */
  isReady = false;
  readonly #json: boolean;
  /** Whether the log is read as it is written, by a person. */
  readonly #isForPeople: boolean;
  readonly #ports: DaemonViewPorts;
  readonly #watch: ProgressWatch;
  readonly #serviceManager: ServiceManager;
  #overdue = 0;
  /** Found by the comparison that is under way. */
  #differences = 0;
  #wasInSync: boolean | null = null;
  readonly #repetitions = new Repetitions();

  constructor(options: GlobalOptions, serviceManager: ServiceManager, ports: DaemonViewPorts) {
    const reader = logReader();
    const settings = logSettings(options, reader);
    this.showsProgress =
      reader === 'terminal' && settings.format === 'pretty' && process.env['TERM'] !== 'dumb';
    this.#watch = new ProgressWatch(this.showsProgress, ports.standing, ({ level, words, fields }) => {
      this.log.say(level, words, fields);
    });
    this.log = createLog({ ...settings, level: options.logLevel ?? 'info', isTimed: true }, (lines) => {
      this.#watch.log(lines);
    });
    this.#json = options.json;
    this.#isForPeople = settings.format === 'pretty';
    this.#ports = ports;
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
    this.#watch.end();
    const results = await drainOutput();
    if (results > 0) this.log.error(`${results} results were dropped, because nothing read standard output`);
  }

  /** Says what starts. */
  greet({ lines, fields }: Greeting): void {
    if (this.#isForPeople) for (const line of lines) this.log.info(line);
    else this.log.info('botsync starts', fields);
  }

  /** Somebody asked for a clean end, which may take a while. */
  stopping(signal: string): void {
    const { inFlight } = this.#watch;
    if (!this.showsProgress) {
      this.log.info('stopping: what is under way may end, nothing new is begun', { signal });
      return;
    }
    const what =
      inFlight.length === 0 ? '' : `: ${describeInFlight(inFlight)} may end within ${durationText(GRACE_MS)}`;
    this.log.info(`stopping${what}; Ctrl-C again ends it at once`);
  }

  /** Says what is given up by an end at once. */
  endNow(): void {
    const { inFlight } = this.#watch;
    if (inFlight.length > 0)
      this.log.warn(
        `ended at once; interrupted: ${describeInFlight(inFlight)}; the next start sends what is missing again`,
      );
    this.#watch.end();
  }

  /** Says how many files were looked at so far, to find out how much there is to send. */
  looking(files: number): void {
    this.#watch.looking(files);
  }

  /** Says how much there is to send. */
  expect(files: number, bytes: number): void {
    this.#watch.expect(files, bytes);
  }

  event(event: FileEvent, transferred?: Transferred): void {
    if (this.#json) printJson(event);
    const level = this.#repetitions.isToldFailure(event.error) ? 'debug' : eventLevel(event);
    this.log.say(level, eventWords(event, transferred), { ...event, ...transferred });
    this.#watch.note(event, transferred);
    this.#measure(event);
  }

  sending(file: OutgoingFile): TransferWatch {
    return this.#watch.sending(file);
  }

  warn(message: string): void {
    this.log.warn(message);
  }

  retrying(path: string, reason: string, delayMs: number): void {
    this.#metrics?.retried();
    this.log.say('info', retryWords(path, reason, delayMs), { path, reason, delayMs: Math.round(delayMs) });
  }

  sent(bytes: number): void {
    this.#metrics?.sent(bytes);
    this.#watch.sent(bytes);
  }

  passBegan(trigger: Trigger): void {
    this.log.debug('pass begins', { trigger });
    // Whatever changes from now on is noticed.
    if (trigger !== 'start') return;
    this.log.info('looking at all files …');
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
    this.#watch.passEnded(isInSync, summary.unconfirmed);
    this.log.say(level, summaryWords(summary, false, false), { trigger });
    if (trigger === 'start' && this.#isForPeople) this.log.info(this.#waitingFor());
    this.#serviceManager.status(line);
    this.#ports.onPassEnded();
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
    const whatToDo = kind === 'credentials' ? `: ${this.#ports.howToRenewCredentials()}` : '';
    if (reason === null) this.log.info(over);
    else this.log.error(`${began}${whatToDo}`, { reason });
  }

  differenceFound({ source, path, key, reason, detail }: FileDifference): void {
    if (this.#json) printJson({ kind: 'verify', source, path, key, reason, detail });
    this.#differences += 1;
    if (this.#differences > DIFFERENCES_LOGGED) return;
    if (this.#isForPeople)
      this.log.warn(`${placeOf(source, path ?? key)} is not as it was sent: ${reason} (${detail})`);
    else this.log.warn('not as it was sent', { source, path, key, reason, detail });
  }

  verified(verified: Verified): void {
    if (this.#json) printJson({ kind: 'verification', ...verified });
    this.log[this.#differences > 0 ? 'warn' : 'info'](describeVerified(verified));
    this.#differences = 0;
    this.#metrics?.verified(Date.now(), verified.reasons);
  }

  get #metrics(): Metrics | null {
    return this.#ports.metrics();
  }

  #waitingFor(): string {
    return waitingFor(this.#ports.watchSettings(), this.#ports.standing()?.activity.watchedDirectories ?? 0);
  }

  #measure({ kind, source, outcome }: FileEvent): void {
    if (kind === 'remove' && outcome === 'done') this.#metrics?.removed(source);
    if (kind === 'refuse') this.#metrics?.uploadEnded(source, 'refused');
    if ((kind === 'upload' || kind === 'renew') && outcome !== undefined)
      this.#metrics?.uploadEnded(source, outcome === 'failed' ? 'failed' : 'done');
  }
}
