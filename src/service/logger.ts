import { createRequire } from 'node:module';
import type { Logger } from 'pino';

/** How and how much is logged, to standard error. */
export interface LogSettings {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly format: 'json' | 'pretty';
}

/** Writes structured log lines. `fields` never hold a secret. */
export interface Log {
  readonly debug: (message: string, fields?: object) => void;
  readonly info: (message: string, fields?: object) => void;
  readonly warn: (message: string, fields?: object) => void;
  readonly error: (message: string, fields?: object) => void;
}

const ORDER = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];

/**
 * A log on pino, which is loaded with the first line that is written: a pass that has nothing to say starts sooner.
 *
 * @param write - takes whole lines; standard error as a rule.
 */
export function createLog(settings: LogSettings, write: (lines: string) => void): Log {
  let logger: Logger | null = null;
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: object = {}): void => {
      if (ORDER.indexOf(level) < ORDER.indexOf(settings.level)) return;
      try {
        logger ??= createLogger(settings, write);
      } catch {
        // Where no descriptor is free nothing can be loaded: what there is to say is said all the same.
        write(`${JSON.stringify({ msg: message, ...fields })}\n`);
        return;
      }
      logger[level](fields, message);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function createLogger({ level, format }: LogSettings, write: (lines: string) => void): Logger {
  const load = createRequire(import.meta.url);
  const { pino } = load('pino') as typeof import('pino');
  if (format === 'json') return pino({ level }, { write });
  const { prettyFactory } = load('pino-pretty') as typeof import('pino-pretty');
  const pretty = prettyFactory({
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
    colorize: false,
  });
  return pino(
    { level },
    {
      write: (line: string) => {
        write(pretty(line));
      },
    },
  );
}
