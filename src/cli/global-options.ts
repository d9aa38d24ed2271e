import { CONFIG_NAMES, findConfig, type FoundConfig } from '../config/find-config.ts';
import { quoteForShell } from '../config/permissions.ts';
import { UsageError } from './usage-error.ts';

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
  const isDefault = config === defaultConfig();
  return `${emulator ? ' --emulator' : ''}${isDefault ? '' : ` -c ${quoteForShell(config)}`}`;
}

let found: FoundConfig | null = null;

/** The configuration in the working directory or the nearest above it. It is looked for once. */
function foundConfig(): FoundConfig {
  found ??= lookForConfig();
  return found;
}

function lookForConfig(): FoundConfig {
  let directory: string;
  try {
    directory = process.cwd();
  } catch {
    // It was removed: who uses it says so.
    return { kind: 'none' };
  }
  return findConfig(directory, process.getuid?.() ?? null);
}

/** The configuration file where none is named. */
export function defaultConfig(): string {
  const named = process.env['BOTSYNC_CONFIG'];
  if (named !== undefined && named !== '') return named;
  const config = foundConfig();
  return config.kind === 'found' ? config.file : CONFIG_NAMES[0];
}

/** The file that `init` writes where none is named: it is for the working directory. */
export function newConfig(): string {
  return process.env['BOTSYNC_CONFIG'] || CONFIG_NAMES[0];
}

/**
 * What there is to say of a configuration that nobody named: that it stands in a directory above; `null`: nothing. Throws
 * `UsageError` where it is not taken: there are two, or it is another user's.
 */
export function introduceConfig({ config, json, logFormat }: IntroducedOptions): string | null {
  if (config !== defaultConfig() || (process.env['BOTSYNC_CONFIG'] ?? '') !== '') return null;
  const looked = foundConfig();
  switch (looked.kind) {
    case 'none':
      return null;
    case 'ambiguous':
      throw new UsageError(
        `${looked.directory} has both ${CONFIG_NAMES.join(' and ')}; remove one of them, or name one with --config`,
      );
    case 'foreign':
      throw new UsageError(
        `${looked.file} belongs to another user and decides where the token is sent, so botsync does not use it by default; if you trust it, name it with --config`,
      );
    case 'found':
      return looked.isAbove && !json && logFormat !== 'json' ? `Configuration: ${looked.file}` : null;
  }
}

type IntroducedOptions = Pick<GlobalOptions, 'config' | 'json' | 'logFormat'>;

/** The same as they are written, before the parser adds their names in camel case. */
export type GlobalArguments = Pick<GlobalOptions, 'config' | 'emulator' | 'json'> & {
  readonly 'no-color': boolean;
  readonly 'log-level': LogLevel | undefined;
  readonly 'log-format': LogFormat;
};

/** The levels of `--log-level`, from most to least. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
/** A level of `--log-level`. */
type LogLevel = (typeof LOG_LEVELS)[number];

/** The values of `--log-format`. */
export const LOG_FORMATS = ['auto', 'json', 'pretty'] as const;
/** How log lines are written; `auto`: JSON for a service manager, else pretty. */
type LogFormat = (typeof LOG_FORMATS)[number];
