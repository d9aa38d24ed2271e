import { escapeControls } from '../domain/escape.ts';
import type { Paint, Style } from './colour.ts';

/** A message whose first words show by their colour what it tells. */
export interface Words {
  readonly style: Style | null;
  /** The words that are coloured. */
  readonly head: string;
  readonly rest: string;
}

/** A level at which something is logged. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

const LEVELS: Readonly<Record<LogLevel, Words | null>> = {
  debug: { style: 'aside', head: 'debug:', rest: ' ' },
  info: null,
  warn: { style: 'warning', head: 'warning:', rest: ' ' },
  error: { style: 'failure', head: 'error:', rest: ' ' },
};

/** A message as one text. */
export function textOf(message: string | Words): string {
  return typeof message === 'string' ? message : `${message.head}${message.rest}`;
}

/** Words as they are shown: control characters are escaped, and the head is coloured. */
function painted({ style, head, rest }: Words, paint: Paint): string {
  const shown = escapeControls(head);
  return `${style === null ? shown : paint(style, shown)}${escapeControls(rest)}`;
}

/**
 * A line of the log for people, without its end. Words with a style stand for themselves; before other messages stands
 * the level, unless it is `info`. What was logged beside the message follows in brackets.
 *
 * @param time - `null`: the line does not tell the time.
 */
export function logLine(
  level: LogLevel,
  message: string | Words,
  fields: object,
  { time, paint }: { readonly time: Date | null; readonly paint: Paint },
): string {
  const when = time === null ? '' : `${paint('aside', localTime(time))}  `;
  const isStyled = typeof message !== 'string' && message.style !== null;
  const prefix = isStyled ? null : LEVELS[level];
  const text = typeof message === 'string' ? escapedLines(message) : painted(message, paint);
  const beside = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join(', ');
  const aside = beside === '' ? '' : ` (${escapeControls(beside)})`;
  return `${when}${prefix === null ? '' : painted(prefix, paint)}${text}${aside}`;
}

/** A moment by the clock on the wall, such as "2026-11-22 13:07:13". */
function localTime(time: Date): string {
  const date = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-');
  return `${date} ${timeOfDay(time)}`;
}

/** The clock on the wall, such as "13:07:13". */
export function timeOfDay(time: Date): string {
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':');
}

function two(part: number): string {
  return String(part).padStart(2, '0');
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  return JSON.stringify(value);
}

/** A message may have several lines. */
function escapedLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n');
}
