import { shown } from './output.ts';
import { bytesText, clockText, countText, durationText } from '../../service/amounts.ts';
import { cutEnd, cutStart, widthOf } from './text-layout.ts';
import type { Expected, FileInFlight, Rate } from '../../run/transfer-tally.ts';

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
