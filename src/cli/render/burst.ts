import { isHalt, type FileEvent } from '../../domain/report.ts';
import type { LogLevel, Words } from '../../service/log-line.ts';
import type { Transferred } from '../../sync/pass/reporter.ts';
import { bytesText, countText, durationText } from '../../service/amounts.ts';

/** Nothing must happen for so long before a burst is taken to be over, milliseconds. */
const QUIET_MS = 1000;

/** The platform's word is waited for in silence for so long, milliseconds. */
const SILENT_WAIT_MS = 10_000;

/** So many files that are not in sync are remembered one by one. */
const MOST_TROUBLES = 10_000;

/** How a daemon stands when nothing is running. */
export interface BurstSituation {
  /** Files of which the platform has not said yet their status. */
  readonly unconfirmed: number;
  /** Whether a source is halted or the platform refuses something. */
  readonly isHindered: boolean;
}

/** What is said of a burst. */
export interface BurstNews {
  readonly level: LogLevel;
  readonly words: Words;
  readonly fields: object;
}

/** Milliseconds of a monotonic clock. */
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

/** Sums up changes that a daemon carries out one by one, when all of them are over. */
export class Burst {
  readonly #monotonic: () => number;
  /** Files that were last told to be in trouble. */
  readonly #troubles = new Set<string>();
  #counts: Counts | null = null;
  /** When the first of what succeeded since the last failure began, and when the last of it ended; `null`: nothing has. */
  #stretch: Stretch | null = null;
  /** What earlier stretches took. In between an outage may have lasted, or a file have waited for another attempt. */
  #tookMs = 0;
  #lastMs = 0;
  #hasToldOfWait = false;

  /** @param monotonic - milliseconds that never go back. */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Whether there is something to be summed up. */
  get isPending(): boolean {
    return this.#counts !== null;
  }

  /** Takes note of what happened to a file. */
  note(event: FileEvent, transferred?: Transferred): void {
    const { kind, source, path, outcome } = event;
    const place = `${source}\n${path}`;
    if (isHalt(event) || outcome === 'failed' || kind === 'refuse' || kind === 'problem') {
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

  /** A pass over everything has summed up itself. `unconfirmed`: what it could not say yet. */
  passEnded(isInSync: boolean, unconfirmed: number): void {
    if (isInSync) this.#troubles.clear();
    this.#counts = unconfirmed > 0 ? emptyCounts() : null;
    this.#lastMs = this.#monotonic();
    this.#stretch = null;
    this.#tookMs = 0;
    // Its summary said that the platform is waited for.
    this.#hasToldOfWait = true;
  }

  /**
   * What is to be said now; `null`: nothing. To be asked now and then while something is pending.
   *
   * @param isBusy - whether a pass is under way, changes wait, files are on their way, or the platform is unreachable.
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
    if (this.#troubles.size === 0 && !isHindered)
      return { level: 'info', words: { style: 'ok', head: 'In sync again', rest: `: ${done}` }, fields };
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
  const told = counts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count.toLocaleString('en')} ${what}`);
  if (told.length === 0) return 'the platform has confirmed every file';
  return `${told.join(', ')}${bytes > 0 ? `, ${bytesText(bytes)}` : ''} (${durationText(tookMs)})`;
}
