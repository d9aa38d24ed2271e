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
 * @param around - wraps each write, for a progress line that has to step aside.
 */
export function createLog(settings: LogSettings, around: (write: () => void) => void): Log {
  let logger: Logger | null = null;
  const write = (level: 'debug' | 'info' | 'warn' | 'error', message: string, fields: object): void => {
    if (ORDER.indexOf(level) < ORDER.indexOf(settings.level)) return;
    logger ??= createLogger(settings);
    const loaded = logger;
    around(() => {
      loaded[level](fields, message);
    });
  };
  return {
    debug: (message, fields = {}) => {
      write('debug', message, fields);
    },
    info: (message, fields = {}) => {
      write('info', message, fields);
    },
    warn: (message, fields = {}) => {
      write('warn', message, fields);
    },
    error: (message, fields = {}) => {
      write('error', message, fields);
    },
  };
}

function createLogger({ level, format }: LogSettings): Logger {
  const load = createRequire(import.meta.url);
  const { pino } = load('pino') as typeof import('pino');
  if (format === 'json') return pino({ level }, pino.destination({ fd: 2, sync: true }));
  const pretty = load('pino-pretty') as typeof import('pino-pretty');
  return pino(
    { level },
    pretty({ destination: 2, sync: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss' }),
  );
}
