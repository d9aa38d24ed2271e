import type { DaemonSituation } from '../../library/observer.ts';
import type { FileEvent } from '../../domain/report.ts';
import type { OutgoingFile, Transferred, TransferWatch } from '../../sync/pass/reporter.ts';
import { holdOf } from './hold.ts';
import { writeError } from './output.ts';
import { Progress, type Hold } from './progress.ts';
import type { FileInFlight } from '../../library/transfer-tally.ts';
import { Burst, type BurstNews } from './burst.ts';

/** It is looked so often whether all is over, milliseconds. */
const LOOK_MS = 500;

/** Follows what a daemon does from the first change until all is over: by a line of progress, and a sum at the end. */
export class ProgressWatch {
  readonly #progress: Progress;
  readonly #burst = new Burst(() => performance.now());
  readonly #isShown: boolean;
  readonly #situation: () => DaemonSituation | null;
  readonly #tell: (news: BurstNews) => void;
  #timer: NodeJS.Timeout | null = null;
  /** Whether the first pass is not over: how much the others have to send is not counted. */
  #isFirst = true;

  /**
   * @param isShown - whether there is a terminal for a line of progress.
   * @param situation - `null` while no daemon runs.
   */
  constructor(isShown: boolean, situation: () => DaemonSituation | null, tell: (news: BurstNews) => void) {
    this.#isShown = isShown;
    this.#situation = situation;
    this.#tell = tell;
    this.#progress = new Progress({ terminal: process.stderr, write: writeError, hold: () => this.#hold() });
  }

  /** What is on its way, the largest first. */
  get inFlight(): readonly FileInFlight[] {
    return this.#progress.tally.inFlight;
  }

  /** Writes lines above the line of progress. */
  log(lines: string): void {
    this.#progress.log(lines);
  }

  /** Files are looked at, to find out how much there is to send; so many so far. */
  looking(files: number): void {
    if (this.#isShown && this.#isFirst) this.#progress.look(files);
  }

  /** Says how much the running pass has to send. */
  expect(files: number, bytes: number): void {
    if (this.#isShown && this.#isFirst) this.#progress.expect(files, bytes);
  }

  sending(file: OutgoingFile): TransferWatch {
    this.#watch();
    return this.#isShown ? this.#progress.sending(file) : this.#progress.tally.begin(file);
  }

  sent(bytes: number): void {
    this.#progress.tally.done(bytes);
  }

  note(event: FileEvent, transferred?: Transferred): void {
    this.#burst.note(event, transferred);
    if (this.#burst.isPending) this.#watch();
  }

  passEnded(isInSync: boolean, unconfirmed: number): void {
    this.#burst.passEnded(isInSync, unconfirmed);
    this.#isFirst = false;
    this.#watch();
  }

  /** Takes the line away and watches no more. */
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
    if (news !== null) this.#tell(news);
    if (!isBusy && !this.#burst.isPending) this.end();
  }

  /** Nothing is running: the next change is counted from nothing. */
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
    const told = outage && {
      sinceMs: Date.parse(outage.since),
      nextProbeMs: outage.nextTry === null ? null : Date.parse(outage.nextTry),
      reason: outage.reason,
    };
    return holdOf(told, situation.pausedForMs, null);
  }
}
