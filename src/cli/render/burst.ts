import type { FileEvent, Transferred } from '../../domain/report.ts';
import type { LogLevel, Words } from '../../service/logger.ts';
import { bytesText, countText, durationText } from '../../service/amounts.ts';
import { type DaemonSituation, type Emit, listener } from '../../sync/events.ts';
import { holdOf, Progress, type Hold } from './progress.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { haltAsFileEvent } from '../../words/halt.ts';
import type { FileInFlight } from '../../run/transfer-tally.ts';

/** A burst is over after this time without changes, in milliseconds. */
const QUIET_MS = 1000;

/** Wait for the platform's confirmation before a message, in milliseconds. */
const SILENT_WAIT_MS = 10_000;

/** Limit on remembered files with problems. */
const MOST_TROUBLES = 10_000;

export interface BurstSituation {
  /** Files whose final status the platform has not reported yet. */
  readonly unconfirmed: number;
  /** A source is halted, or the platform refuses something. */
  readonly isHindered: boolean;
}

export interface BurstNews {
  readonly level: LogLevel;
  readonly words: Words;
  readonly fields: object;
}

/** In milliseconds of a monotonic clock. */
interface Stretch {
  readonly beganMs: number;
  lastMs: number;
}

interface Counts {
  uploaded: number;
  renewed: number;
  updated: number;
  removed: number;
  bytes: number;
}

/** Summarises single changes of a daemon after the last of them. */
export class Burst {
  readonly #monotonic: () => number;
  /** Files whose last event was a problem. */
  readonly #troubles = new Set<string>();
  #counts: Counts | null = null;
  /**
   * From the start of the first success since the last failure to the end of the last one; `null` without a
   * success.
   */
  #stretch: Stretch | null = null;
  /** The length of earlier stretches, without the outages and waits between them. */
  #tookMs = 0;
  #lastMs = 0;
  #hasToldOfWait = false;
  /** A file failed, or the last summary said that something is not in sync. */
  #wasOut = false;

  /** @param monotonic - milliseconds that never go back. */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** There is something to summarise. */
  get isPending(): boolean {
    return this.#counts !== null;
  }

  note(event: FileEvent, transferred?: Transferred): void {
    const { kind, source, path, outcome } = event;
    const place = `${source}\n${path}`;
    if (outcome === 'failed' || kind === 'refuse' || kind === 'problem') {
      this.#wasOut = true;
      if (this.#troubles.size < MOST_TROUBLES) this.#troubles.add(place);
    } else this.#troubles.delete(place);
    if (outcome === undefined) return;
    const nowMs = this.#monotonic();
    this.#lastMs = nowMs;
    if (kind === 'confirm' && this.#counts === null) return;
    if (this.#counts === null) {
      this.#counts = emptyCounts();
      this.#stretch = null;
      this.#tookMs = 0;
      this.#hasToldOfWait = false;
    }
    if (outcome === 'failed') {
      this.#endStretch();
      return;
    }
    this.#stretch ??= { beganMs: nowMs - (transferred?.durationMs ?? 0), lastMs: nowMs };
    this.#stretch.lastMs = nowMs;
    if (outcome === 'done') countIn(this.#counts, kind, transferred?.bytes ?? 0);
  }

  /** Resets the burst after a full pass, which has its own summary. `unconfirmed`: files left to confirm. */
  passEnded(isInSync: boolean, unconfirmed: number): void {
    if (isInSync) this.#troubles.clear();
    this.#wasOut = !isInSync;
    this.#counts = unconfirmed > 0 ? emptyCounts() : null;
    this.#lastMs = this.#monotonic();
    this.#stretch = null;
    this.#tookMs = 0;
    // The summary of the pass reported the wait already.
    this.#hasToldOfWait = true;
  }

  /**
   * Returns the message that is due; `null` for none. Must be called repeatedly while something is pending.
   *
   * @param isBusy - whether a pass is running, changes wait, files are being sent, or the platform is unreachable.
   */
  news(situation: BurstSituation, isBusy: boolean): BurstNews | null {
    const quietMs = this.#monotonic() - this.#lastMs;
    if (this.#counts === null || isBusy || quietMs < QUIET_MS) return null;
    const { unconfirmed, isHindered } = situation;
    const tookMs = Math.round(this.#tookMs + lengthOf(this.#stretch));
    const fields = { ...this.#counts, durationMs: tookMs };
    const done = describe(this.#counts, tookMs);
    if (unconfirmed > 0) {
      if (this.#hasToldOfWait || quietMs < SILENT_WAIT_MS) return null;
      this.#hasToldOfWait = true;
      const rest = `: ${done}; not confirmed yet: ${countText(unconfirmed, 'file')}`;
      return {
        level: 'info',
        words: { style: 'warning', head: 'Sent', rest },
        fields: { ...fields, unconfirmed },
      };
    }
    this.#counts = null;
    if (this.#troubles.size === 0 && !isHindered) {
      const head = this.#wasOut ? 'In sync again' : 'In sync';
      this.#wasOut = false;
      return { level: 'info', words: { style: 'ok', head, rest: `: ${done}` }, fields };
    }
    this.#wasOut = true;
    const left = this.#troubles.size === 0 ? '' : `; ${countText(this.#troubles.size, 'problem')} left`;
    const rest = `: ${done}${left}; see botsync status`;
    return { level: 'warn', words: { style: 'failure', head: 'NOT IN SYNC', rest }, fields };
  }

  #endStretch(): void {
    this.#tookMs += lengthOf(this.#stretch);
    this.#stretch = null;
  }
}

function countIn(counts: Counts, kind: FileEvent['kind'], bytes: number): void {
  counts.bytes += bytes;
  if (kind === 'upload') counts.uploaded += 1;
  else if (kind === 'renew') counts.renewed += 1;
  else if (kind === 'update') counts.updated += 1;
  else if (kind === 'remove') counts.removed += 1;
}

function lengthOf(stretch: Stretch | null): number {
  return stretch === null ? 0 : stretch.lastMs - stretch.beganMs;
}

function emptyCounts(): Counts {
  return { uploaded: 0, renewed: 0, updated: 0, removed: 0, bytes: 0 };
}

function describe({ uploaded, renewed, updated, removed, bytes }: Counts, tookMs: number): string {
  const counts = [
    [uploaded, 'uploaded'],
    [renewed, 'renewed'],
    [updated, 'with other settings'],
    [removed, 'removed'],
  ] as const;
  const parts = counts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count.toLocaleString('en')} ${what}`);
  if (parts.length === 0) return 'the platform has confirmed every file';
  return `${parts.join(', ')}${bytes > 0 ? `, ${bytesText(bytes)}` : ''} (${durationText(tookMs)})`;
}

/** Interval of checks for the end of all work, in milliseconds. */
const LOOK_MS = 500;

/** Follows the work of a daemon from the first change to the last: by a progress line, and a summary at the end. */
export class ProgressWatch {
  readonly #progress: Progress;
  readonly #burst = new Burst(() => performance.now());
  readonly #situation: () => DaemonSituation | null;
  readonly #report: (news: BurstNews) => void;
  #timer: NodeJS.Timeout | null = null;
  /** The first pass is not over; only of this one the progress line shows the total. */
  #isFirst = true;

  /**
   * @param isShown - whether there is a terminal for the progress line.
   * @param situation - `null` while no daemon runs.
   */
  constructor(isShown: boolean, situation: () => DaemonSituation | null, report: (news: BurstNews) => void) {
    this.#situation = situation;
    this.#report = report;
    this.#progress = new Progress(isShown, () => this.#hold());
  }

  /** Largest first. */
  get inFlight(): readonly FileInFlight[] {
    return this.#progress.tally.inFlight;
  }

  /** Writes lines above the progress line. */
  log(lines: string): void {
    this.#progress.log(lines);
  }

  readonly listener: Emit = (event) => {
    const isOfPass = event.kind === 'counting' || event.kind === 'expected';
    if (this.#isFirst || !isOfPass) this.#progress.listener(event);
    this.#own(event);
  };

  readonly #own = listener({
    file: ({ file, transferred }) => {
      this.#note(file, transferred);
    },
    halted: (event) => {
      this.#note(haltAsFileEvent(event));
    },
    'attempt-began': () => {
      this.#watch();
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
    // A pause was reported, and what was held back follows after it.
    const news = situation.activity.pause === null ? this.#burst.news(situation, isBusy) : null;
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
