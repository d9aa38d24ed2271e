import type { FileEvent, Summary } from '../../domain/report.ts';
import { createLog, type StyledLog } from '../../service/logger.ts';
import { GRACE_MS } from '../../library/stop.ts';
import type { Additions, Usages } from '../../domain/usage.ts';
import type { PassObserver, Waiting } from '../../library/observer.ts';
import type { OutgoingFile, Reporter, Transferred, TransferWatch } from '../../sync/pass/reporter.ts';
import type { RefusedFile } from '../credential-advice.ts';
import { logReader, logSettings } from '../command-log.ts';
import type { GlobalOptions } from '../global-options.ts';
import { durationText } from '../../service/amounts.ts';
import { retryWords } from '../../service/retry-words.ts';
import { eventLevel, eventWords } from '../../words/event.ts';
import { holdOf } from './hold.ts';
import { describeInFlight } from './in-flight.ts';
import { print, shown, writeError } from './output.ts';
import { paintFor } from './paint.ts';
import { placeOf } from '../../words/place.ts';
import { printJson } from './print-json.ts';
import { describeUsage, usageForPrograms } from '../../words/usage.ts';
import { describeSummary, TroubleList } from '../../words/pass.ts';
import { Progress, type Hold } from './progress.ts';
import { wrapWords } from './text-width.ts';
import type { FileInFlight } from '../../library/transfer-tally.ts';

/**
 * What a person or a program sees of a pass. Results go to standard output: JSON Lines with `--json`, else a summary.
 * Standard error has a progress line on a terminal, and log lines.
 */
export class PassView implements Reporter, PassObserver {
  readonly log: StyledLog;
  /** Whether a progress line is shown. */
  readonly showsProgress: boolean;
  readonly #json: boolean;
  /** On a terminal the summary tells of files, unless a log level was asked for. */
  readonly #logsFiles: boolean;
  readonly #troubles = new TroubleList();
  readonly #progress: Progress;
  #hold: () => Hold | null = () => null;
  /** What the running pass has come to so far, and when it began. */
  #pass: { readonly counts: Summary; readonly beganMs: number } | null = null;
  #interrupted: readonly FileInFlight[] = [];
  /** By source and reason: many files fail alike. */
  readonly #refusals = new Map<string, RefusedFile>();

  constructor({ json, logLevel, logFormat }: GlobalOptions) {
    const reader = logReader();
    this.#json = json;
    this.showsProgress = reader === 'terminal' && logFormat !== 'json' && process.env['TERM'] !== 'dumb';
    this.#logsFiles = !this.showsProgress || logLevel !== undefined;
    this.#progress = new Progress({
      terminal: process.stderr,
      write: writeError,
      hold: () => this.#hold(),
    });
    this.log = createLog(logSettings({ logLevel, logFormat }, reader), (lines) => {
      this.#progress.log(lines);
    });
  }

  /** The files that failed with an answer of 401, 403 or 404, one for each source and reason. */
  get refusals(): readonly RefusedFile[] {
    return [...this.#refusals.values()];
  }

  /** A pass begins, which counts there. */
  begin(counts: Summary): void {
    this.#pass = { counts, beganMs: performance.now() };
  }

  waitsBy(waiting: () => Waiting): void {
    this.#hold = () => {
      const { outage, pausedForMs, giveUpAfterMs } = waiting();
      return holdOf(outage, pausedForMs, giveUpAfterMs);
    };
  }

  /** Somebody asked for a clean end, which may take a while. */
  stopping(signal: string): void {
    if (!this.showsProgress) {
      this.log.info('stopping: running transfers may finish, no new ones are started', { signal });
      return;
    }
    const { inFlight } = this.#progress.tally;
    const what =
      inFlight.length === 0
        ? 'Stopping.'
        : `Stopping: ${describeInFlight(inFlight)} may finish within ${durationText(GRACE_MS)}.`;
    const columns = process.stderr.columns || 80;
    // The terminal has echoed "^C" at the beginning of the line.
    const start = signal === 'SIGINT' ? '\n' : '';
    this.#progress.log(`${start}${wrapWords(`${what} Press Ctrl-C again to stop at once.`, columns - 1)}\n`);
  }

  /** What is running is broken off now. */
  breakingOff(): void {
    this.#interrupted = this.#progress.tally.inFlight;
  }

  /** Prints the end of a pass that is given up in its midst. */
  endNow(): void {
    if (this.#pass === null) {
      this.stop();
      return;
    }
    const { counts, beganMs } = this.#pass;
    this.breakingOff();
    counts.pending += this.#interrupted.length;
    counts.durationMs = Math.round(performance.now() - beganMs);
    this.end(counts, false, true);
    // Ctrl-C has ended whoever reads standard output through a pipe as well.
    if (!process.stdout.isTTY && this.#interrupted.length > 0) this.log.warn(this.#interruptedWords());
  }

  /** Says how many files were checked so far, to find out how much there is to send. */
  looking(files: number): void {
    if (this.showsProgress) this.#progress.look(files);
  }

  /** Says how much there is to send. */
  expect(files: number, bytes: number): void {
    if (this.showsProgress) this.#progress.expect(files, bytes);
  }

  /** Shows what is waited for when all was sent. */
  confirming(words: string): void {
    if (this.showsProgress) this.#progress.say(words);
  }

  event(event: FileEvent, transferred?: Transferred): void {
    const { source, error } = event;
    if (error !== undefined && /^40[134]\b/u.test(error))
      this.#refusals.set(`${source} ${error}`, { source, error });
    if (this.#json) printJson(event);
    else this.#troubles.add(event);
    if (this.#logsFiles)
      this.log.say(eventLevel(event), eventWords(event, transferred), { ...event, ...transferred });
  }

  warn(message: string): void {
    this.log.warn(message);
  }

  inform(message: string): void {
    this.log.info(message);
  }

  retrying(path: string, reason: string, delayMs: number): void {
    this.log.say('info', retryWords(path, reason, delayMs), { path, reason, delayMs: Math.round(delayMs) });
  }

  sent(bytes: number): void {
    this.#progress.tally.done(bytes);
  }

  sending(file: OutgoingFile): TransferWatch {
    return this.showsProgress ? this.#progress.sending(file) : this.#progress.tally.begin(file);
  }

  /** Prints one line of a dry run. */
  planned(event: FileEvent): void {
    if (this.#json) printJson(event);
    else
      print(`${event.kind.padEnd(8)}${shown(placeOf(event.source, event.path))}  (${shown(event.reason)})`);
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

  /** Prints the end of a pass or a dry run; `isCutShort`: some files were not even checked. */
  end(summary: Summary, isDryRun: boolean, isCutShort: boolean): void {
    this.stop();
    this.#pass = null;
    if (this.#json) {
      printJson({ kind: 'summary', ...summary });
      return;
    }
    const paint = paintFor(1);
    const lines = [
      ...this.#troubles.lines(paint),
      ...this.#interruptedLines(),
      ...describeSummary(summary, isDryRun, isCutShort, { paint, notReached: this.#notReached(summary) }),
    ];
    print(lines.join('\n').trim());
  }

  /** Takes the progress line away. */
  stop(): void {
    this.#progress.stop();
  }

  /** Files that were to be sent, as far as they were counted, and were not come to. */
  #notReached({ failed, pending }: Summary): number {
    const { expected, files } = this.#progress.tally;
    return Math.max(0, (expected?.files ?? 0) - files - failed - pending);
  }

  #interruptedLines(): string[] {
    if (this.#interrupted.length === 0) return [];
    return ['', this.#interruptedWords()];
  }

  #interruptedWords(): string {
    return `Interrupted: ${describeInFlight(this.#interrupted)}; the next run sends what is missing`;
  }
}
