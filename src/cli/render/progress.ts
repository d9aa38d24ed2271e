import { listener, type Emit } from '../../sync/events.ts';
import { LiveLine } from './live-frame.ts';
import { writeError, shown } from './output.ts';
import { TransferTally, type FileInFlight, type Expected, type Rate } from '../../run/transfer-tally.ts';
import type { Outage } from '../../sync/pass/circuit-breaker.ts';
import { bytesText, clockText, countText, durationText } from '../../service/amounts.ts';
import { cutEnd, cutStart, widthOf } from './text-layout.ts';

/** The interval of redrawing, in milliseconds. */
const FRAME_MS = 125;

/** Shorter work shows no line, in milliseconds. */
const PATIENCE_MS = 300;

/** Files of this size are named at once; smaller ones after some time. */
const NAMED_BYTES = 1_000_000;
const NAMED_AFTER_MS = 1000;

/** Why nothing is sent for a while; times are milliseconds from now, `null` if unknown. */
export type Hold = Omit<Extract<ProgressFacts, { readonly kind: 'waiting' }>, 'kind'>;

/** Counts what is sent, and shows it as a line on a terminal, from the first event until `stop`. */
export class Progress {
  readonly tally = new TransferTally(() => performance.now());
  readonly #hold: () => Hold | null;
  readonly #line = new LiveLine({ write: writeError, columns });
  #timer: NodeJS.Timeout | null = null;
  #beganMs = 0;
  /** Files checked so far. */
  #lookedAt: number | null = null;
  #text: { readonly text: string; readonly sinceMs: number } | null = null;
  readonly #draw = (): void => {
    this.#tick();
  };
  readonly #stop = (): void => {
    this.stop();
  };
  readonly listener: Emit;

  /**
   * @param isShown - whether there is a terminal for the line; else files are only counted.
   * @param hold - `null` while nothing prevents sending.
   */
  constructor(isShown: boolean, hold: () => Hold | null) {
    this.#hold = hold;
    this.listener = (event) => {
      this.tally.listener(event);
      if (event.kind === 'sent') this.tally.done(event.bytes);
      if (isShown) this.#showEvent(event);
    };
  }

  readonly #showEvent = listener({
    'attempt-began': () => {
      this.#show();
    },
    counting: ({ files }) => {
      this.#lookedAt = files;
      this.#show();
    },
    expected: ({ files, bytes }) => {
      this.tally.expected = files === 0 ? null : { files, bytes };
      this.#lookedAt = null;
      if (files > 0) this.#show();
    },
    confirming: ({ words }) => {
      this.#text = { text: words, sinceMs: this.#text?.sinceMs ?? performance.now() };
      this.#show();
    },
  });

  /** Writes lines above the progress line, if there is one. */
  log(lines: string): void {
    this.#line.above(lines);
  }

  /** Erases the line. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#lookedAt = null;
    this.#text = null;
    process.stderr.off('resize', this.#draw);
    process.off('exit', this.#stop);
    this.#line.clear();
  }

  #show(): void {
    if (this.#timer !== null) return;
    this.#beganMs = performance.now();
    this.#timer = setInterval(this.#draw, FRAME_MS);
    this.#timer.unref();
    process.stderr.on('resize', this.#draw);
    // The cursor is hidden.
    process.on('exit', this.#stop);
  }

  #tick(): void {
    const rate = this.tally.rate();
    if (performance.now() - this.#beganMs < PATIENCE_MS) return;
    const facts = this.#facts(rate);
    if (facts === null) this.#line.clear();
    // Leave the last column free: some terminals wrap as soon as it is written.
    else this.#line.show(progressLine(facts, columns() - 1));
  }

  #facts(rate: ReturnType<TransferTally['rate']>): ProgressFacts | null {
    const { tally } = this;
    if (this.#text !== null)
      return { kind: 'text', text: this.#text.text, forMs: performance.now() - this.#text.sinceMs };
    const hold = this.#hold();
    if (hold !== null) return { kind: 'waiting', ...hold };
    const inFlight = tally.inFlightCount;
    if (tally.expected === null && inFlight === 0)
      return this.#lookedAt === null ? null : { kind: 'looking', files: this.#lookedAt };
    const { files, bytes, expected, part, largest } = tally;
    const named = largest !== null && isWorthNaming(largest) ? largest : null;
    return { kind: 'sending', files, bytes, part, expected, rate, largest: named, inFlight };
  }
}

function columns(): number {
  return process.stderr.columns || 80;
}

function isWorthNaming({ sizeBytes, beganMs }: FileInFlight): boolean {
  return sizeBytes >= NAMED_BYTES || performance.now() - beganMs >= NAMED_AFTER_MS;
}

/** Shorter pauses are not shown, in milliseconds. */
const SHORT_MS = 1000;

/**
 * Returns why nothing is sent; `null` if sending is possible.
 *
 * @param pausedForMs - how long the platform asked us to wait from now.
 * @param giveUpAfterMs - the limit of an outage; `null` for none.
 */
export function holdOf(
  outage: Outage | null,
  pausedForMs: number,
  giveUpAfterMs: number | null,
): Hold | null {
  if (outage !== null) {
    const nowMs = Date.now();
    return {
      reason: `platform unreachable: ${outage.reason}`,
      goesOnInMs: outage.nextProbeMs === null ? null : outage.nextProbeMs - nowMs,
      givesUpInMs: giveUpAfterMs === null ? null : outage.sinceMs + giveUpAfterMs - nowMs,
    };
  }
  if (pausedForMs <= SHORT_MS) return null;
  return { reason: 'the platform asked for a pause', goesOnInMs: pausedForMs, givesUpInMs: null };
}

export type ProgressFacts =
  /** `files`: files checked so far. */
  | { readonly kind: 'looking'; readonly files: number }
  | {
      readonly kind: 'sending';
      readonly files: number;
      readonly bytes: number;
      /** From 0 to 1; `null`, like `expected`, if the total is unknown. */
      readonly part: number | null;
      readonly expected: Expected | null;
      readonly rate: Rate;
      /** The largest file being sent, if it is worth naming. */
      readonly largest: FileInFlight | null;
      readonly inFlight: number;
    }
  /** Nothing is sent for a while. Times are milliseconds from now; `null` if unknown. */
  | {
      readonly kind: 'waiting';
      readonly reason: string;
      readonly goesOnInMs: number | null;
      readonly givesUpInMs: number | null;
    }
  /** A wait after everything was sent. */
  | { readonly kind: 'text'; readonly text: string; readonly forMs: number };

const LEAST_BAR = 10;
const LONGEST_BAR = 30;
const LEAST_NAME = 10;
const LONGEST_NAME = 24;

/** The width of the remaining time, with its separator. */
const TIME_COLUMNS = 12;
const BETWEEN = ' | ';

/** Renders a progress line of at most `columns`; less important parts are omitted first. */
export function progressLine(facts: ProgressFacts, columns: number): string {
  switch (facts.kind) {
    case 'looking':
      return cutEnd(`checking ${countText(facts.files, 'file')} …`, columns);
    case 'sending':
      return sendingLine(facts, columns);
    case 'waiting':
      return cutEnd(waitingText(facts), columns);
    case 'text': {
      const time = ` (${durationText(facts.forMs)})`;
      return `${cutEnd(shown(facts.text), Math.max(1, columns - widthOf(time)))}${columns > widthOf(time) ? time : ''}`;
    }
  }
}

type Sending = Extract<ProgressFacts, { kind: 'sending' }>;

/** `place`: the position in the line. Parts are added by importance. */
interface Part {
  readonly place: number;
  readonly text: string;
}

function sendingLine(facts: Sending, columns: number): string {
  const { expected, part, rate, largest } = facts;
  const parts: Part[] = [];
  let left = columns;
  const add = (place: number, text: string): boolean => {
    const width = widthOf(text) + (parts.length === 0 ? 0 : BETWEEN.length);
    if (width > left) return false;
    left -= width;
    parts.push({ place, text });
    return true;
  };
  // In order of importance.
  if (part !== null) add(1, `${Math.floor(part * 100)}%`);
  else add(1, `sending ${countText(Math.max(1, facts.inFlight), 'file')}`);
  add(2, expected === null ? bytesText(facts.bytes) : ofAll(facts.bytes, expected.bytes));
  if (largest !== null) {
    const name = nameText(largest, left - BETWEEN.length);
    if (name !== null) add(6, name);
  }
  if (rate.leftMs !== null && facts.inFlight > 0) add(5, `${clockText(rate.leftMs)} left`);
  if (expected !== null) add(3, filesOf(facts.files, expected.files));
  // While no file is being sent, files are read and compared.
  add(4, facts.inFlight === 0 ? 'reading files' : `${bytesText(Math.round(rate.bytesPerSecond))}/s`);
  const bar = Math.min(LONGEST_BAR, left - 1);
  const text = parts
    .sort((a, b) => a.place - b.place)
    .map((one) => one.text)
    .join(BETWEEN);
  return part !== null && bar >= LEAST_BAR ? `${barText(part, bar)} ${text}` : text;
}

/** Renders a file with its percentage in `columns`; `null` if there is no room. */
function nameText({ name, sizeBytes, sentBytes }: FileInFlight, columns: number): string | null {
  const amount = ` ${Math.floor((100 * sentBytes) / Math.max(1, sizeBytes))}%`;
  const full = shown(name);
  if (columns < LEAST_NAME + amount.length) return columns < LEAST_NAME ? null : cutStart(full, columns);
  // A longer name would take the room of other parts.
  const most = Math.min(
    Math.max(LONGEST_NAME, Math.floor(columns / 2)),
    Math.max(LEAST_NAME, columns - amount.length - TIME_COLUMNS),
  );
  return `${cutStart(full, Math.min(most, columns - amount.length))}${amount}`;
}

function waitingText({
  reason,
  goesOnInMs,
  givesUpInMs,
}: Extract<ProgressFacts, { kind: 'waiting' }>): string {
  const next = goesOnInMs === null ? 'waiting' : `waiting, next try in ${clockText(Math.max(1, goesOnInMs))}`;
  const end = givesUpInMs === null ? '' : `, giving up in ${clockText(Math.max(1, givesUpInMs))}`;
  return `${next}${end}: ${shown(reason)}`;
}

function ofAll(done: number, all: number): string {
  return `${bytesText(done)} of ${bytesText(Math.max(done, all))}`;
}

function filesOf(done: number, all: number): string {
  return `${done.toLocaleString('en')} of ${countText(Math.max(done, all), 'file')}`;
}

function barText(part: number, columns: number): string {
  const filled = Math.floor(part * columns);
  return `${'█'.repeat(filled)}${'░'.repeat(columns - filled)}`;
}

/** Further files are counted. */
const NAMED = 3;

/** Describes files being sent, largest first; `files` must not be empty. */
export function describeInFlight(files: readonly FileInFlight[]): string {
  const named = files
    .slice(0, NAMED)
    .map(
      ({ name, sentBytes, sizeBytes }) =>
        `${shown(name)}, ${bytesText(sentBytes)} of ${bytesText(sizeBytes)}`,
    );
  const more = files.length > NAMED ? `; and ${files.length - NAMED} more` : '';
  return `${countText(files.length, 'file')} being sent (${named.join('; ')}${more})`;
}
