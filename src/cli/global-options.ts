import { dirname } from 'node:path';
import type { Argv } from 'yargs';
import { CONFIG_NAMES, findConfig, SERVICE_CONFIG, type FoundConfig } from '../config/find-config.ts';
import { quoteForShell } from '../config/problem.ts';
import { UsageError } from './usage-error.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

type LogLevel = (typeof LOG_LEVELS)[number];

const LOG_FORMATS = ['auto', 'json', 'pretty'] as const;

/** `auto`: JSON for a service manager, else pretty. */
type LogFormat = (typeof LOG_FORMATS)[number];

export interface GlobalOptions {
  readonly config: string;
  readonly emulator: boolean;
  readonly json: boolean;
  readonly logLevel: LogLevel | undefined;
  readonly logFormat: LogFormat;
}

/** The options that repeat this configuration in a suggested command. */
export function commandEnd({ config, emulator }: Pick<GlobalOptions, 'config' | 'emulator'>): string {
  const isDefault = config === defaultConfig();
  return `${emulator ? ' --emulator' : ''}${isDefault ? '' : ` -c ${quoteForShell(config)}`}`;
}

/** Finds the configuration in the working directory, above, or that of the service. */
function foundConfig(): FoundConfig {
  let directory: string;
  try {
    directory = process.cwd();
  } catch {
    // The working directory was deleted; reported when it is used.
    return { kind: 'none' };
  }
  return findConfig(directory, process.getuid?.() ?? null);
}

/** The configuration without `--config`. */
function defaultConfig(): string {
  const named = process.env['BOTSYNC_CONFIG'];
  if (named !== undefined && named !== '') return named;
  const config = foundConfig();
  return config.kind === 'found' ? config.file : CONFIG_NAMES[0];
}

/** The file that `init` writes by default, always in the working directory. */
export function newConfig(): string {
  return process.env['BOTSYNC_CONFIG'] || CONFIG_NAMES[0];
}

/**
 * Returns a note if the default configuration is in another directory, else `null`. Throws `UsageError` if it is
 * ambiguous, belongs to another user or may not be read.
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
      return looked.isHere || json || logFormat === 'json' ? null : `Configuration: ${looked.file}`;
    case 'unreadable':
      throw new UsageError(
        `${looked.file} cannot be read by this user; run the command as root or in the group of that file, or name another configuration with --config`,
      );
  }
}

type IntroducedOptions = Pick<GlobalOptions, 'config' | 'json' | 'logFormat'>;

/** The purpose of botsync, in one line. */
export const PURPOSE = "Keeps a chat bot's file storage in sync with directories on this machine.";

const GLOBAL = 'Global options:';

/**
 * Adds the options of every command. yargs' own --help and --version are off: they also match a last argument
 * `help`, and -v of any command.
 */
export function withGlobalOptions(parser: Argv): Argv<GlobalArguments> {
  return parser
    .parserConfiguration({ 'boolean-negation': false, 'dot-notation': false })
    .scriptName('botsync')
    .usageConfiguration({ 'hide-types': true })
    .updateStrings({ 'Positionals:': 'Arguments:' })
    .wrap(Math.max(40, Math.min(100, process.stdout.columns || 100)))
    .usage(`$0 <command>\n\n${PURPOSE}`)
    .help(false)
    .version(false)
    .option('help', { alias: 'h', type: 'boolean', group: 'Options:', description: 'Show help' })
    .option('config', {
      group: GLOBAL,
      alias: 'c',
      type: 'string',
      description: `Configuration file (default: $BOTSYNC_CONFIG, or ${CONFIG_NAMES[0]} here, above or in ${dirname(SERVICE_CONFIG)})`,
      default: defaultConfig(),
      requiresArg: true,
    })
    .option('emulator', {
      ...flag(
        'Use the embedded emulator instead of the platform; its data is in .botsync/emulator/ next to the config',
      ),
      group: GLOBAL,
    })
    .option('json', { ...flag('Print results as JSON'), group: GLOBAL })
    .option('no-color', { ...flag('Write without colours, as with NO_COLOR=1'), group: GLOBAL })
    .option('log-level', {
      group: GLOBAL,
      choices: LOG_LEVELS,
      requiresArg: true,
      description: `Least important log lines to write: ${LOG_LEVELS.join(', ')} (default: info; on a terminal warn, except for the daemon)`,
    })
    .option('log-format', {
      group: GLOBAL,
      choices: LOG_FORMATS,
      requiresArg: true,
      default: 'auto' as const,
      description: `Format of log lines: ${LOG_FORMATS.join(', ')} (default: auto)`,
    })
    .option('version', { group: GLOBAL, alias: 'v', type: 'boolean', description: 'Show the version' })
    .example('$0 init', 'Write a configuration')
    .example('$0 sync --dry-run', 'Show what a pass would do')
    .example('$0 sync', 'Run as a service: sync changes until a signal ends it');
}

/** The names as on the command line, before the parser adds camel case. */
export type GlobalArguments = Pick<GlobalOptions, 'config' | 'emulator' | 'json'> & {
  readonly 'no-color': boolean;
  readonly 'log-level': LogLevel | undefined;
  readonly 'log-format': LogFormat;
};

/** Returns the handler of a command, which is loaded only when it runs. */
export type RunCommand = <Options>(
  load: () => Promise<(options: Options) => Promise<number>>,
) => (options: Options) => Promise<void>;

/** A switch, off by default. */
export function flag(description: string): { type: 'boolean'; default: boolean; description: string } {
  return { type: 'boolean', default: false, description };
}

export function text(description: string): { type: 'string'; requiresArg: true; description: string } {
  return { type: 'string', requiresArg: true, description };
}

/** A text that may be repeated. */
export function texts(description: string): {
  type: 'string';
  array: true;
  requiresArg: true;
  description: string;
} {
  return { type: 'string', array: true, requiresArg: true, description };
}

export function number(description: string): { type: 'number'; requiresArg: true; description: string } {
  return { type: 'number', requiresArg: true, description };
}
