import { createRequire } from 'node:module';
import type { Logger } from 'pino';
import { escapeControls } from '../domain/escape.ts';
import { withoutColour, type Paint } from './colour.ts';
import { logLine, textOf, type LogLevel, type Words } from './log-line.ts';

/** How and how much is logged, to standard error. */
export interface LogSettings {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** `pretty`: lines for people. */
  readonly format: 'json' | 'pretty';
  /** Whether lines for people begin with date and time; those of JSON always have them. */
  readonly isTimed?: boolean;
  /** The colours of lines for people; none unless given. */
  readonly paint?: Paint;
}

/** Writes structured log lines. `fields` never hold a secret. */
export interface Log {
  readonly debug: (message: string, fields?: object) => void;
  readonly info: (message: string, fields?: object) => void;
  readonly warn: (message: string, fields?: object) => void;
  readonly error: (message: string, fields?: object) => void;
}

/** A log that also takes messages with a style, which tell people everything: `fields` are for programs alone. */
export interface StyledLog extends Log {
  readonly say: (level: LogLevel, words: Words, fields: object) => void;
}

const ORDER = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];

/**
 * Makes a log. Control characters are escaped in all that it writes.
 *
 * @param write - takes whole lines; standard error as a rule.
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

/** Writes JSON by pino, which is loaded with the first line that is written: a pass that has nothing to say starts sooner. */
function jsonWriter({ level: least }: LogSettings, write: (lines: string) => void): Writer {
  let logger: Logger | null = null;
  const writeEscaped = (lines: string): void => {
    // JSON leaves some control characters of names alone.
    write(lines.split('\n').map(escapeControls).join('\n'));
  };
  return (level, message, fields) => {
    try {
      logger ??= loadPino()({ level: least }, { write: writeEscaped });
    } catch {
      // Where no descriptor is free nothing can be loaded: what there is to say is said all the same.
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
