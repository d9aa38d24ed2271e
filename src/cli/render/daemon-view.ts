import type { FileEvent, Summary } from '../../domain/report.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { createLog, type StyledLog } from '../../service/logger.ts';
import type { ServiceManager } from '../../service/systemd-notify.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import type { Verified } from '../../sync/plan/verify.ts';
import type { Refusal, Trigger } from '../../sync/daemon/daemon-observer.ts';
import type { OutgoingFile, Transferred, TransferWatch } from '../../sync/pass/reporter.ts';
import type { ObservedDaemon, RunObserver } from '../../library/observer.ts';
import { DaemonNews } from '../../library/daemon/daemon-news.ts';
import { GRACE_MS } from '../../library/stop.ts';
import { version } from '../../library/version.ts';
import { logReader, logSettings } from '../command-log.ts';
import { credentialAdvice } from '../credential-advice.ts';
import type { GlobalOptions } from '../global-options.ts';
import { durationText } from '../../service/amounts.ts';
import { describeInFlight } from './in-flight.ts';
import { drainOutput, neverWaitForReaders } from './output.ts';
import { printJson } from './print-json.ts';
import { describeSummary } from '../../words/pass.ts';
import { greeting, waitingFor } from './greeting.ts';
import { ProgressWatch } from './progress-watch.ts';

/** What a daemon tells: log lines, results as JSON Lines with `--json`, and a line for the service manager. */
export class DaemonView implements RunObserver {
  readonly log: StyledLog;
  /** Whether a progress line is shown. */
  readonly showsProgress: boolean;
  readonly #options: GlobalOptions;
  /** Whether the log is read as it is written, by a person. */
  readonly #isForPeople: boolean;
  readonly #watch: ProgressWatch;
  readonly #serviceManager: () => Pick<ServiceManager, 'status'>;
  /** `null` until it has begun. */
  #daemon: ObservedDaemon | null = null;
  readonly #startedAtMs = performance.now();
  readonly #news: DaemonNews;

  /** @param serviceManager - is told how each pass ended, for people. */
  constructor(options: GlobalOptions, serviceManager: () => Pick<ServiceManager, 'status'>) {
    const reader = logReader();
    const settings = logSettings(options, reader);
    this.showsProgress =
      reader === 'terminal' && settings.format === 'pretty' && process.env['TERM'] !== 'dumb';
    this.#watch = new ProgressWatch(
      this.showsProgress,
      () => this.#daemon?.situation ?? null,
      ({ level, words, fields }) => {
        this.log.say(level, words, fields);
      },
    );
    this.log = createLog({ ...settings, level: options.logLevel ?? 'info', isTimed: true }, (lines) => {
      this.#watch.log(lines);
    });
    this.#news = new DaemonNews(this.log, () =>
      this.#daemon === null ? null : credentialAdvice(this.#daemon.config, options),
    );
    this.#options = options;
    this.#isForPeople = settings.format === 'pretty';
    this.#serviceManager = serviceManager;
    neverWaitForReaders({
      1: {
        dropping: () => {
          this.log.error('nobody reads standard output; results are dropped until somebody does');
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
  async drain(): Promise<void> {
    this.#watch.end();
    const results = await drainOutput();
    if (results > 0) this.log.error(`${results} results were dropped, because nothing read standard output`);
  }

  started(daemon: ObservedDaemon): void {
    this.#daemon = daemon;
    const { config } = daemon;
    const platform = this.#options.emulator ? 'the emulator, within this process' : config.platform.baseUrl;
    const { lines, fields } = greeting(config, platform, version(), process.version);
    if (this.#isForPeople) for (const line of lines) this.log.info(line);
    else this.log.info('botsync starts', fields);
  }

  /** Somebody asked for a clean end, which may take a while. */
  stopping(signal: string): void {
    const { inFlight } = this.#watch;
    if (!this.showsProgress) {
      this.log.info('stopping: running transfers may finish, no new ones are started', { signal });
      return;
    }
    // The terminal has echoed "^C" at the beginning of the line.
    if (signal === 'SIGINT') this.#watch.log('\n');
    const what =
      inFlight.length === 0
        ? ''
        : `: ${describeInFlight(inFlight)} may finish within ${durationText(GRACE_MS)}`;
    this.log.info(`stopping${what}; press Ctrl-C again to stop at once`);
  }

  /** Says what is given up by an end at once. */
  endNow(): void {
    const { inFlight } = this.#watch;
    const ranFor = `stopped at once after ${durationText(performance.now() - this.#startedAtMs)}`;
    this.log.warn(
      inFlight.length === 0
        ? ranFor
        : `${ranFor}; interrupted: ${describeInFlight(inFlight)}; the next start sends what is missing`,
    );
    this.#watch.end();
  }

  /** Says how many files were checked so far, to find out how much there is to send. */
  looking(files: number): void {
    this.#watch.looking(files);
  }

  /** Says how much there is to send. */
  expect(files: number, bytes: number): void {
    this.#watch.expect(files, bytes);
  }

  event(event: FileEvent, transferred?: Transferred, isKnown?: boolean): void {
    if (this.#options.json) printJson(event);
    this.#news.event(event, transferred, isKnown);
    this.#watch.note(event, transferred);
  }

  sending(file: OutgoingFile): TransferWatch {
    return this.#watch.sending(file);
  }

  warn(message: string): void {
    this.#news.warn(message);
  }

  inform(message: string): void {
    this.log.info(message);
  }

  retrying(path: string, reason: string, delayMs: number): void {
    this.#news.retrying(path, reason, delayMs);
  }

  sent(bytes: number): void {
    this.#watch.sent(bytes);
  }

  passBegan(trigger: Trigger): void {
    this.#news.passBegan(trigger);
  }

  passEnded(trigger: Trigger, sources: readonly string[], summary: Summary, exitCode: number): void {
    if (this.#options.json) printJson({ kind: 'summary', ...summary });
    this.#watch.passEnded(exitCode === EXIT.ok, summary.unconfirmed);
    this.#news.passEnded(trigger, sources, summary, exitCode);
    if (trigger === 'start' && this.#isForPeople && this.#daemon !== null)
      this.log.info(waitingFor(this.#daemon));
    const [line = ''] = describeSummary(summary, false, false);
    this.#serviceManager().status(line);
  }

  eventsLost(source: string, reason: string): void {
    this.#news.eventsLost(source, reason);
  }

  watchLimited(source: string, message: string): void {
    this.#news.watchLimited(source, message);
  }

  renewalsOverdue(count: number): void {
    this.#news.renewalsOverdue(count);
  }

  refused(kind: Refusal, reason: string | null): void {
    this.#news.refused(kind, reason);
  }

  differenceFound(difference: FileDifference): void {
    const { source, path, key, reason, detail } = difference;
    if (this.#options.json) printJson({ kind: 'verify', source, path, key, reason, detail });
    this.#news.differenceFound(difference);
  }

  verified(verified: Verified): void {
    if (this.#options.json) printJson({ kind: 'verification', ...verified });
    this.#news.verified(verified);
  }
}
