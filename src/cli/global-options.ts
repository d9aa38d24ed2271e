import { quoteForShell } from '../config/permissions.ts';

/** Options that every command takes. */
export interface GlobalOptions {
  readonly config: string;
  readonly emulator: boolean;
  readonly json: boolean;
  readonly logLevel: LogLevel | undefined;
  readonly logFormat: LogFormat;
}

/** What follows a command that people are told to run next, so that it is about the same configuration. */
export function alike({ config, emulator }: Pick<GlobalOptions, 'config' | 'emulator'>): string {
  const isDefault = config === (process.env['BOTSYNC_CONFIG'] || DEFAULT_CONFIG);
  return `${emulator ? ' --emulator' : ''}${isDefault ? '' : ` -c ${quoteForShell(config)}`}`;
}

/** The configuration file where none is named. */
export const DEFAULT_CONFIG = 'botsync.config.json';

/** The same as they are written, before the parser adds their names in camel case. */
export type GlobalArguments = Pick<GlobalOptions, 'config' | 'emulator' | 'json'> & {
  readonly 'log-level': LogLevel | undefined;
  readonly 'log-format': LogFormat;
};

/** The levels of `--log-level`, from most to least. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
/** A level of `--log-level`. */
type LogLevel = (typeof LOG_LEVELS)[number];

/** The values of `--log-format`. */
export const LOG_FORMATS = ['auto', 'json', 'pretty'] as const;
/** How log lines are written; `auto`: pretty on a terminal, else JSON. */
type LogFormat = (typeof LOG_FORMATS)[number];
