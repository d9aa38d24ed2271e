import { type DaemonSituation, listener } from '../../sync/events.ts';
import type { FileEvent, Transferred } from '../../domain/report.ts';
import { holdOf, Progress, type Hold } from './progress.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { haltAsFileEvent } from '../../words/halt.ts';
import { writeError } from './output.ts';
import type { FileInFlight } from '../../run/transfer-tally.ts';
import { Burst, type BurstNews } from './burst.ts';

/** Interval of checks for the end of all work, in milliseconds. */
const LOOK_MS = 500;

/** Follows the work of a daemon from the first change to the last: by a progress line, and a summary at the end. */
export class ProgressWatch {
  readonly #progress: Progress;
  readonly #burst = new Burst(() => performance.now());
  readonly #isShown: boolean;
  readonly #situation: () => DaemonSituation | null;
  readonly #report: (news: BurstNews) => void;
  #timer: NodeJS.Timeout | null = null;
  /** The first pass is not over; only its files are counted. */
  #isFirst = true;

  /**
   * @param isShown - whether there is a terminal for the progress line.
   * @param situation - `null` while no daemon runs.
   */
  constructor(isShown: boolean, situation: () => DaemonSituation | null, report: (news: BurstNews) => void) {
    this.#isShown = isShown;
    this.#situation = situation;
    this.#report = report;
    this.#progress = new Progress({ terminal: process.stderr, write: writeError, hold: () => this.#hold() });
  }

  /** Largest first. */
  get inFlight(): readonly FileInFlight[] {
    return this.#progress.tally.inFlight;
  }

  /** Writes lines above the progress line. */
  log(lines: string): void {
    this.#progress.log(lines);
  }

  readonly listener = listener({
    file: ({ file, transferred }) => {
      this.#note(file, transferred);
    },
    halted: (event) => {
      this.#note(haltAsFileEvent(event));
    },
    counting: ({ files }) => {
      if (this.#isShown && this.#isFirst) this.#progress.look(files);
    },
    expected: ({ files, bytes }) => {
      if (this.#isShown && this.#isFirst) this.#progress.expect(files, bytes);
    },
    'attempt-began': (event) => {
      this.#watch();
      if (this.#isShown) this.#progress.show();
      this.#progress.tally.listener(event);
    },
    'attempt-progress': (event) => {
      this.#progress.tally.listener(event);
    },
    'attempt-ended': (event) => {
      this.#progress.tally.listener(event);
    },
    sent: ({ bytes }) => {
      this.#progress.tally.done(bytes);
    },
    'pass-ended': ({ exitCode, summary }) => {
      this.#burst.passEnded(exitCode === EXIT.ok, summary.unconfirmed);
      this.#isFirst = false;
      this.#watch();
    },
  });

  #note(event: FileEvent, transferred?: Transferred): void {
    this.#burst.note(event, transferred);
    if (this.#burst.isPending) this.#watch();
  }

  /** Erases the line and stops watching. */
  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#rest();
  }

  #watch(): void {
    this.#timer ??= setInterval(() => {
      this.#look();
    }, LOOK_MS).unref();
  }

  #look(): void {
    const situation = this.#situation();
    const isBusy = this.#isBusy();
    if (!isBusy) this.#rest();
    if (situation === null) return;
    const news = this.#burst.news(situation, isBusy);
    if (news !== null) this.#report(news);
    if (!isBusy && !this.#burst.isPending) this.end();
  }

  /** Resets the progress line; the next change starts at zero. */
  #rest(): void {
    this.#progress.stop();
    this.#progress.tally.reset();
  }

  #isBusy(): boolean {
    const activity = this.#situation()?.activity;
    if (activity === undefined) return false;
    return (
      activity.activity !== 'watching' || activity.queued + activity.sending > 0 || activity.outage !== null
    );
  }

  #hold(): Hold | null {
    const situation = this.#situation();
    if (situation === null) return null;
    const { outage } = situation.activity;
    const current = outage && {
      sinceMs: Date.parse(outage.since),
      nextProbeMs: outage.nextTry === null ? null : Date.parse(outage.nextTry),
      reason: outage.reason,
    };
    return holdOf(current, situation.pausedForMs, null);
  }
}
