import { isHalt, type FileEvent, type Summary } from '../../domain/report.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { createLog, type Log } from '../../service/logger.ts';
import type { ServiceManager } from '../../service/systemd-notify.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import type { Verified } from '../../sync/plan/verify.ts';
import type { Refusal, Trigger } from '../../sync/daemon/daemon-observer.ts';
import type { SyncObserver } from '../../library/observer.ts';
import { logSettings } from '../command-log.ts';
import type { GlobalOptions } from '../global-options.ts';
import { drainOutput, neverWaitForReaders, shown, writeLog } from './output.ts';
import { printJson } from './print-json.ts';
import { describeVerified } from './verify-report.ts';
import { describeSummary } from './pass-report.ts';

/** The platform refuses: what is said when it begins, and when it is over. */
const REFUSED: Readonly<Record<Refusal, { readonly began: string; readonly over: string }>> = {
  credentials: {
    began:
      'the platform refuses the credentials; what needs them waits, and is tried again now and then: check platform.token, workspaceId and botId, then reload (SIGHUP)',
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

/** What a daemon tells: log lines, results as JSON Lines with `--json`, and a line for the service manager. */
export class DaemonView implements SyncObserver {
  readonly log: Log;
  readonly #json: boolean;
  /** Whether the log is read as it is written, by a person. */
  readonly #isForPeople: boolean;
  readonly #serviceManager: () => Pick<ServiceManager, 'status'>;
  #overdue = 0;
  /** Found by the comparison that is under way. */
  #differences = 0;
  #wasInSync: boolean | null = null;

  /** @param serviceManager - is told how each pass ended, for people. */
  constructor(options: GlobalOptions, serviceManager: () => Pick<ServiceManager, 'status'>) {
    const settings = logSettings(options, process.stderr.isTTY);
    this.log = createLog({ ...settings, level: options.logLevel ?? 'info' }, writeLog);
    this.#json = options.json;
    this.#isForPeople = settings.format === 'pretty';
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
  async drain(): Promise<void> {
    const results = await drainOutput();
    if (results > 0) this.log.error(`${results} results were dropped, because nothing read standard output`);
  }

  event(event: FileEvent): void {
    if (this.#json) printJson(event);
    const { kind, outcome, ...fields } = event;
    const what = outcome === 'failed' ? `${kind} failed` : kind;
    const isTrouble = outcome === 'failed' || kind === 'problem' || kind === 'refuse';
    const isDetail = kind === 'skip' || kind === 'confirm';
    const level = isHalt(event) ? 'error' : isTrouble ? 'warn' : isDetail ? 'debug' : 'info';
    if (this.#isForPeople) this.log[level](describe(what, event));
    else this.log[level](what, fields);
  }

  warn(message: string): void {
    this.log.warn(message);
  }

  retrying(path: string, reason: string, delayMs: number): void {
    this.log.info('trying again', { path, reason, delayMs: Math.round(delayMs) });
  }

  passBegan(trigger: Trigger): void {
    this.log.debug('pass begins', { trigger });
  }

  passEnded(trigger: Trigger, _sources: readonly string[], summary: Summary, exitCode: number): void {
    if (this.#json) printJson({ kind: 'summary', ...summary });
    const [line = ''] = describeSummary(summary, false, false);
    const isInSync = exitCode === EXIT.ok;
    const { uploaded, renewed, removed } = summary;
    const isNews = trigger !== 'rescan' || isInSync !== this.#wasInSync || uploaded + renewed + removed > 0;
    this.#wasInSync = isInSync;
    const level = isInSync ? (isNews ? 'info' : 'debug') : 'warn';
    if (this.#isForPeople)
      this.log[level](trigger === 'start' ? `${line}; watching for changes, Ctrl-C ends it` : line);
    else this.log[level](line, { trigger });
    this.#serviceManager().status(line);
  }

  eventsLost(source: string, reason: string): void {
    this.log.info('everything is looked at again', { source, reason });
  }

  watchLimited(source: string, message: string): void {
    this.log.warn(message, { source });
  }

  renewalsOverdue(count: number): void {
    if (count > this.#overdue)
      this.log.error('files will expire that could not be renewed in time', { files: count });
    else if (count === 0 && this.#overdue > 0) this.log.info('all files are renewed again');
    this.#overdue = count;
  }

  refused(kind: Refusal, reason: string | null): void {
    const { began, over } = REFUSED[kind];
    if (reason === null) this.log.info(over);
    else this.log.error(began, { reason });
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
  }
}

function describe(what: string, { source, path, reason, error }: FileEvent): string {
  return `${what} ${shown(`${source}:${path}`)} (${shown(error ?? reason)})`;
}
