import { isHalt, type FileEvent, type Summary } from '../../domain/report.ts';
import { createLog, type Log } from '../../service/logger.ts';
import type { Additions, Usages } from '../../domain/usage.ts';
import type { Reporter } from '../../sync/pass/reporter.ts';
import { logSettings } from '../command-log.ts';
import type { GlobalOptions } from '../global-options.ts';
import { print, shown, shownLines, writeError } from './output.ts';
import { printJson } from './print-json.ts';
import { describeUsage, usageForPrograms } from './usage-report.ts';
import { describeSummary, TroubleList } from './pass-report.ts';
import { Progress } from './progress.ts';

/**
 * What a person or a program sees of a pass. Results go to standard output: JSON Lines with `--json`, else a summary.
 * Standard error has a progress line on a terminal, and log lines.
 */
export class PassView implements Reporter {
  readonly log: Log;
  /** Whether a progress line is shown. */
  readonly showsProgress: boolean;
  readonly #json: boolean;
  /** On a terminal the summary tells of files, unless a log level was asked for. */
  readonly #logsFiles: boolean;
  readonly #troubles = new TroubleList();
  readonly #progress = new Progress(process.stderr, writeError);
  /** What the pass under way has come to so far. */
  #counts: Summary | null = null;

  constructor({ json, logLevel, logFormat }: GlobalOptions) {
    const isTerminal = process.stderr.isTTY;
    this.#json = json;
    this.showsProgress = isTerminal && logFormat !== 'json';
    this.#logsFiles = !this.showsProgress || logLevel !== undefined;
    this.log = createLog(logSettings({ logLevel, logFormat }, isTerminal), (lines) => {
      this.#progress.log(shownLines(lines));
    });
  }

  /** A pass begins, which counts there. */
  begin(counts: Summary): void {
    this.#counts = counts;
  }

  /** Somebody asked for a clean end, which may take a while. */
  stopping(signal: string): void {
    if (this.showsProgress)
      this.#progress.log('Stopping: what is under way may end. Ctrl-C once more ends it at once.\n');
    else this.log.info('stopping: what is under way may end, nothing new is begun', { signal });
  }

  /** Prints the end of a pass that is given up in its midst. */
  endNow(): void {
    if (this.#counts !== null) this.end(this.#counts, false, true);
  }

  /** Says how much there is to send. */
  expect(files: number, bytes: number): void {
    this.#progress.start(files, bytes);
  }

  /** Shows what is waited for when all was sent. */
  confirming(words: string): void {
    if (this.showsProgress) this.#progress.say(words);
  }

  event(event: FileEvent): void {
    if (this.#json) printJson(event);
    else this.#troubles.add(event);
    if (!this.#logsFiles) return;
    const { kind, outcome, ...fields } = event;
    if (outcome === 'failed') this.log.warn(`${kind} failed`, fields);
    else if (isHalt(event)) this.log.error(kind, fields);
    else if (kind === 'problem' || kind === 'refuse') this.log.warn(kind, fields);
    else if (kind === 'skip' || kind === 'confirm') this.log.debug(kind, fields);
    else this.log.info(kind, fields);
  }

  warn(message: string): void {
    this.log.warn(message);
  }

  retrying(path: string, reason: string, delayMs: number): void {
    this.log.info('trying again', { path, reason, delayMs: Math.round(delayMs) });
  }

  sent(bytes: number): void {
    this.#progress.add(bytes);
  }

  /** Prints one line of a dry run. */
  planned(event: FileEvent): void {
    if (this.#json) printJson(event);
    else print(`${event.kind.padEnd(8)}${shown(`${event.source}:${event.path}`)}  (${shown(event.reason)})`);
  }

  /** Prints what is used and allowed, and what the run would add. */
  usage(usages: Usages, additions: Additions): void {
    if (this.#json) printJson({ kind: 'usage', ...usageForPrograms(usages, additions) });
    else
      print(
        [
          "Usage, in the platform's units:",
          ...describeUsage(usages, additions).map((line) => `  ${line}`),
        ].join('\n'),
      );
  }

  /** Prints the end of a pass or a dry run; `isCutShort`: some files were not even looked at. */
  end(summary: Summary, isDryRun: boolean, isCutShort: boolean): void {
    this.stop();
    this.#counts = null;
    if (this.#json) printJson({ kind: 'summary', ...summary });
    else
      print([...this.#troubles.lines(), ...describeSummary(summary, isDryRun, isCutShort)].join('\n').trim());
  }

  /** Takes the progress line away. */
  stop(): void {
    this.#progress.stop();
  }
}
