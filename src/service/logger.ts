import { createRequire } from 'node:module';
import type { Logger } from 'pino';
import { escapeControls } from '../domain/escape.ts';
import { withoutColour, type Paint, type Style } from './colour.ts';
import { durationText } from './amounts.ts';

export interface LogSettings {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** `pretty`: lines for people. */
  readonly format: 'json' | 'pretty';
  /** Lines for people begin with date and time; lines of JSON always have them. */
  readonly isTimed?: boolean;
  /** Colours of lines for people; none by default. */
  readonly paint?: Paint;
}

/** Writes structured log lines. `fields` never hold a secret. */
export interface Log {
  readonly debug: (message: string, fields?: object) => void;
  readonly info: (message: string, fields?: object) => void;
  readonly warn: (message: string, fields?: object) => void;
  readonly error: (message: string, fields?: object) => void;
}

/** A log that also takes styled messages. These are complete for people: only JSON lines include `fields`. */
export interface StyledLog extends Log {
  readonly say: (level: LogLevel, words: Words, fields: object) => void;
}

const ORDER = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];

/**
 * Creates a log that escapes all control characters.
 *
 * @param write - takes whole lines.
 */
export function createLog(settings: LogSettings, write: (lines: string) => void): StyledLog {
  const log = settings.format === 'json' ? jsonWriter(settings, write) : prettyWriter(settings, write);
  const at =
    (level: LogLevel) =>
    (message: string, fields: object = {}): void => {
      if (isLogged(level, settings)) log(level, message, fields);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    say: (level, words, fields) => {
      if (!isLogged(level, settings)) return;
      log(
        level,
        settings.format === 'json' ? textOf(words) : words,
        settings.format === 'json' ? fields : {},
      );
    },
  };
}

type Writer = (level: LogLevel, message: string | Words, fields: object) => void;

function isLogged(level: LogLevel, settings: LogSettings): boolean {
  return ORDER.indexOf(level) >= ORDER.indexOf(settings.level);
}

/** Writes JSON with pino, which is loaded with the first line, so that a silent pass starts sooner. */
function jsonWriter({ level: least }: LogSettings, write: (lines: string) => void): Writer {
  let logger: Logger | null = null;
  const writeEscaped = (lines: string): void => {
    // JSON leaves some control characters unescaped.
    write(lines.split('\n').map(escapeControls).join('\n'));
  };
  return (level, message, fields) => {
    try {
      logger ??= loadPino()({ level: least }, { write: writeEscaped });
    } catch {
      // Without a free file descriptor pino cannot be loaded.
      writeEscaped(`${JSON.stringify({ msg: message, ...fields })}\n`);
      return;
    }
    logger[level](fields, textOf(message));
  };
}

function loadPino(): typeof import('pino').pino {
  const load = createRequire(import.meta.url);
  return (load('pino') as typeof import('pino')).pino;
}

function prettyWriter(
  { isTimed = true, paint = withoutColour }: LogSettings,
  write: (lines: string) => void,
): Writer {
  return (level, message, fields) => {
    write(`${logLine(level, message, fields, { time: isTimed ? new Date() : null, paint })}\n`);
  };
}

/** A message with coloured first words. */
export interface Words {
  readonly style: Style | null;
  /** The coloured words. */
  readonly head: string;
  readonly rest: string;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
const LEVELS: Readonly<Record<LogLevel, Words | null>> = {
  debug: { style: 'aside', head: 'debug:', rest: ' ' },
  info: null,
  warn: { style: 'warning', head: 'warning:', rest: ' ' },
  error: { style: 'failure', head: 'error:', rest: ' ' },
};

export function textOf(message: string | Words): string {
  return typeof message === 'string' ? message : `${message.head}${message.rest}`;
}

function painted({ style, head, rest }: Words, paint: Paint): string {
  const shown = escapeControls(head);
  return `${style === null ? shown : paint(style, shown)}${escapeControls(rest)}`;
}

/**
 * Returns a log line for people, without a line break. Messages without a style are preceded by their level, unless
 * it is `info`. `fields` follow in brackets.
 *
 * @param time - `null` for a line without the time.
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

/** Local time, such as "2026-11-22 13:07:13". */
export function localTime(time: Date): string {
  const date = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-');
  return `${date} ${timeOfDay(time)}`;
}

/** Local time, such as "13:07:13". */
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

/** `what` is empty if the context names it. */
export function retryWords(what: string, reason: string, delayMs: number): Words {
  return {
    style: null,
    head: '',
    rest: `retrying ${what === '' ? '' : `${what} `}in ${durationText(delayMs)}: ${reason}`,
  };
}
