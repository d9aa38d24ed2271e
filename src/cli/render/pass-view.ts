import type { Summary } from '../../domain/report.ts';
import { createLog, type StyledLog, retryWords } from '../../service/logger.ts';
import { listener, type Emit } from '../../sync/events.ts';
import { GRACE_MS } from '../../run/stop.ts';
import type { RefusedSource } from '../../run/api.ts';
import { logReader, logSettings } from './output.ts';
import type { GlobalOptions } from '../global-options.ts';
import { durationText } from '../../service/amounts.ts';
import { eventLevel, eventWords, haltWords } from '../../words/event.ts';
import { holdOf, Progress, type Hold } from './progress.ts';
import { describeInFlight } from './progress.ts';
import { print, shown, printJson, paintFor } from './output.ts';
import { haltAsFileEvent } from '../../words/halt.ts';
import { placeOf } from '../../words/place.ts';
import { describeUsage, usageForPrograms } from '../../words/usage.ts';
import { describeSummary, TroubleList } from '../../words/pass.ts';
import { wrapWords } from './text-layout.ts';
import type { FileInFlight } from '../../run/transfer-tally.ts';

/**
 * The output of a pass. Results go to standard output: JSON Lines with `--json`, else a summary. Standard error
 * gets log lines, and a progress line on a terminal.
 */
export class PassView {
  readonly log: StyledLog;
  readonly showsProgress: boolean;
  readonly #json: boolean;
  /** On a terminal the summary lists files, so they are logged only with a log level. */
  readonly #logsFiles: boolean;
  readonly #troubles = new TroubleList();
  readonly #progress: Progress;
  #hold: () => Hold | null = () => null;
  /** `null` without a running pass. */
  #pass: { readonly counts: Summary; readonly beganMs: number } | null = null;
  #interrupted: readonly FileInFlight[] = [];
  /** By source and reason, since many files fail for the same reason. */
  readonly #refusals = new Map<string, RefusedSource>();

  constructor({ json, logLevel, logFormat }: GlobalOptions) {
    const reader = logReader();
    this.#json = json;
    this.showsProgress = reader === 'terminal' && logFormat !== 'json' && process.env['TERM'] !== 'dumb';
    this.#logsFiles = !this.showsProgress || logLevel !== undefined;
    this.#progress = new Progress(this.showsProgress, () => this.#hold());
    this.log = createLog(logSettings({ logLevel, logFormat }, reader), (lines) => {
      this.#progress.log(lines);
    });
  }

  /** One failure with an answer of 401, 403 or 404 for each source and reason. */
  get refusals(): readonly RefusedSource[] {
    return [...this.#refusals.values()];
  }

  readonly listener: Emit = (event) => {
    this.#progress.listener(event);
    this.#own(event);
  };

  readonly #own = listener({
    file: ({ file, transferred, failure }) => {
      const { source, error } = file;
      if (error !== undefined && failure?.kind === 'credentials')
        this.#refusals.set(`${source} ${failure.scope}`, {
          ...{ source, error },
          isUnknownBot: failure.scope === 'unknown-bot',
        });
      if (this.#json) printJson(file);
      else this.#troubles.add(file);
      if (this.#logsFiles)
        this.log.say(eventLevel(file), eventWords(file, transferred), { ...file, ...transferred });
    },
    halted: (event) => {
      const file = haltAsFileEvent(event);
      if (this.#json) printJson(file);
      else this.#troubles.addHalt(event);
      if (this.#logsFiles) this.log.say('error', haltWords(event), file);
    },
    warning: ({ message }) => {
      this.log.warn(message);
    },
    notice: ({ message }) => {
      this.log.info(message);
    },
    retrying: ({ path, reason, delayMs }) => {
      this.log.say('info', retryWords(path, reason, delayMs), { path, reason, delayMs: Math.round(delayMs) });
    },
    waiting: ({ read }) => {
      this.#hold = () => {
        const { outage, pausedForMs, giveUpAfterMs } = read();
        return holdOf(outage, pausedForMs, giveUpAfterMs);
      };
    },
    planned: ({ file }) => {
      if (this.#json) printJson(file);
      else print(`${file.kind.padEnd(8)}${shown(placeOf(file.source, file.path))}  (${shown(file.reason)})`);
    },
    usage: ({ usages, additions }) => {
      if (this.#json) printJson({ kind: 'usage', ...usageForPrograms(usages, additions) });
      else
        print(
          [
            "Usage, in the platform's units:",
            ...describeUsage(usages, additions).map((line) => `  ${line}`),
          ].join('\n'),
        );
    },
    'breaking-off': () => {
      this.#interrupted = this.#progress.tally.inFlight;
    },
    'call-began': ({ counts }) => {
      this.#pass = { counts, beganMs: performance.now() };
    },
    'call-ended': ({ summary, isDryRun, isCutShort }) => {
      this.end(summary, isDryRun, isCutShort);
    },
  });

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
    // The terminal echoed "^C" at the beginning of the line.
    const start = signal === 'SIGINT' ? '\n' : '';
    this.#progress.log(`${start}${wrapWords(`${what} Press Ctrl-C again to stop at once.`, columns - 1)}\n`);
  }

  /** Prints the end of an interrupted pass. */
  endNow(): void {
    if (this.#pass === null) {
      this.stop();
      return;
    }
    const { counts, beganMs } = this.#pass;
    this.#interrupted = this.#progress.tally.inFlight;
    counts.pending += this.#interrupted.length;
    counts.durationMs = Math.round(performance.now() - beganMs);
    this.end(counts, false, true);
    // Ctrl-C also ended the reader of standard output in a pipe.
    if (!process.stdout.isTTY && this.#interrupted.length > 0) this.log.warn(this.#interruptedWords());
  }

  /** Prints the end of a pass or a dry run; `isCutShort`: not all files were checked. */
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

  stop(): void {
    this.#progress.stop();
  }

  /** Counted files that were not tried. */
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
