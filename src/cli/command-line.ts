import { readFileSync } from 'node:fs';
import yargs, { type Argv } from 'yargs';
import { fileURLToPath } from 'url';
import { EXIT } from '../domain/exit-code.ts';
import { SyncError } from '../run/sync-error.ts';
import { version } from '../run/version.ts';
import { sourceStack } from '../service/source-stack.ts';
import { describeMistake, helpLine } from './describe-mistake.ts';
import { addEmulatorCommand, addPlatformCommands, addSetupCommands } from './platform-commands.ts';
import {
  defaultConfig,
  flag,
  introduceConfig,
  LOG_FORMATS,
  LOG_LEVELS,
  type GlobalArguments,
  type RunCommand,
} from './global-options.ts';
import { addClusterCommands, addSyncCommands } from './sync-commands.ts';
import { exitCodeOfError, UsageError } from './usage-error.ts';
import { print, printError, shown, forbidColour } from './render/output.ts';

declare module 'yargs' {
  // Missing in the types of yargs.
  interface Argv {
    /** `key`: the names of all options of the command; `array`: of those that may be repeated. */
    getOptions(): { readonly key: Readonly<Record<string, true>>; readonly array: readonly string[] };
    usageConfiguration(configuration: { readonly 'hide-types': boolean }): this;
  }
}

/** The option with which the scripts of yargs request completions. */
const COMPLETION_REQUEST = '--get-yargs-completions';

/** Runs a command and returns its exit code. Errors of the user are printed to standard error without a stack. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  if (args[0] === COMPLETION_REQUEST) return await completeLine(args);
  if (hasOption(args, '--help', '--help=true', '-h')) return await showHelp(args);
  if (hasOption(args, '--version') || args[0] === '-v') return showVersion();
  let exitCode: number = EXIT.ok;
  const parser = program(args, (code) => {
    exitCode = code;
  });
  try {
    await parser.parseAsync(withPathsLast(args), {}, printOutput);
    return exitCode;
  } catch (error) {
    if (!(error instanceof SyncError)) return reportDefect(error, isForPrograms(args));
    const { problems, code } = error;
    // Errors about options end with a pointer to the help.
    const isOfOption = code === 'usage' && error.message.startsWith('-');
    const isComplete = !isOfOption || error.message.endsWith(' --help.');
    const message = isComplete ? error.message : `${error.message}\n${helpLine(parser)}`;
    exitCode = exitCodeOfError(error);
    if (isForPrograms(args)) printJsonError({ exitCode, message, problems });
    else printError(message);
    return exitCode;
  }
}

/** Answers a completion request of a shell. Incomplete lines are seldom valid, and a message would garble the line. */
async function completeLine(args: readonly string[]): Promise<number> {
  try {
    await declareCommands(yargs(), () => undefined).parseAsync(args, {}, printOutput);
  } catch {
    // No completions.
  }
  return EXIT.ok;
}

function printOutput(_error: unknown, _options: unknown, output: string): void {
  if (output !== '') print(output);
}

/** Prints the help of the command in `args`. */
async function showHelp(args: readonly string[]): Promise<number> {
  const help = await declareCommands(yargs([...args]), () => undefined).getHelp();
  print(`${help}\n\nDocumentation: ${documentation()}`);
  return EXIT.ok;
}

function showVersion(): number {
  print(version());
  return EXIT.ok;
}

/** Prints an unexpected error. Returns the exit code. */
export function reportDefect(error: unknown, asJson: boolean): number {
  const message = `This is a defect of botsync ${version()}, please report it:\n${sourceStack(error)}`;
  if (asJson) printJsonError({ exitCode: EXIT.defect, message });
  else printError(message);
  return EXIT.defect;
}

export function isForPrograms(args: readonly string[]): boolean {
  return hasOption(args, '--json', '--json=true');
}

/** Checks the unparsed arguments, since errors in them may prevent parsing. */
function hasOption(args: readonly string[], ...names: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? undefined : end).some((arg) => names.includes(arg));
}

/** Prints an error as one line of JSON; `kind` distinguishes it from log lines. */
function printJsonError({
  problems = [],
  exitCode,
  message,
}: Pick<SyncError, 'message'> & Partial<Pick<SyncError, 'problems'>> & { readonly exitCode: number }): void {
  printError(
    shown(JSON.stringify({ kind: 'error', exitCode, message, ...(problems.length > 0 && { problems }) })),
  );
}

/** Makes everything after `--` a path for `explain`, since yargs takes no positional arguments there. */
function withPathsLast(args: readonly string[]): string[] {
  if (!args.includes('explain') || !args.includes('--')) return [...args];
  const end = args.indexOf('--');
  const paths = args.slice(end + 1).map((path) => (path.startsWith('-') ? `./${path}` : path));
  return [...args.slice(0, end), ...paths];
}

function program(args: readonly string[], done: (code: number) => void): Argv {
  let suggestion = '';
  const parser: Argv = declareCommands(yargs(), done)
    .middleware((options) => {
      if (options['no-color']) forbidColour();
      refuseOddOptions(options, args, parser);
    }, true)
    .middleware((options) => {
      refuseIdleOptions(options);
      if (WITHOUT_CONFIG.has(`${options._[0] ?? ''}`)) return;
      const introduction = introduceConfig(options);
      if (introduction !== null) printError(introduction);
    })
    .demandCommand(1, 'Name a command.')
    .recommendCommands()
    .strict()
    .fail((message: string, error: Error | undefined) => {
      // yargs' own errors have this name and are about the arguments.
      if (error !== undefined && error.name !== 'YError') throw error;
      // yargs reports the suggestion first, then the unknown command.
      if (message.startsWith('Did you mean ')) suggestion = `. ${message}`;
      else {
        const mistake = describeMistake(message, args, parser);
        throw new UsageError(`${mistake}${suggestion}\n${helpLine(parser)}`);
      }
    });
  return parser;
}

/** Declares all commands and options. `done` gets the exit code. */
function declareCommands(parser: Argv, done: (code: number) => void): Argv<GlobalArguments> {
  const run: RunCommand = (load) => async (options) => {
    const command = await load();
    done(await command(options));
  };
  const adders = [
    addSyncCommands,
    addEmulatorCommand,
    addPlatformCommands,
    addClusterCommands,
    addSetupCommands,
  ];
  return adders
    .reduce((declared, add) => add(declared, run), withGlobalOptions(parser))
    .command(
      'completion',
      'Print a completion script for bash or zsh, whichever $SHELL names',
      (command) =>
        command
          .example('$0 completion >> ~/.bashrc', 'bash, for every new shell')
          .example('$0 completion >> ~/.zshrc', 'zsh'),
      () => {
        parser.showCompletionScript();
        done(EXIT.ok);
      },
    )
    .command(
      'help [command..]',
      'Show the help of a command',
      (command) =>
        command
          .positional('command', { type: 'string', array: true, default: [], description: 'The command' })
          .example('$0 help sync', 'The same as botsync sync --help'),
      async ({ command }) => {
        done(await showHelp(command));
      },
    );
}

/** Commands that read no configuration. */
const WITHOUT_CONFIG = new Set(['init', 'completion', 'emulator', 'help']);

const GLOBAL = 'Global options:';

/**
 * Adds the options of every command. yargs' own --help and --version are off: they also match a last argument
 * `help`, and -v of any command.
 */
function withGlobalOptions(parser: Argv): Argv<GlobalArguments> {
  return parser
    .parserConfiguration({ 'boolean-negation': false, 'dot-notation': false })
    .scriptName('botsync')
    .usageConfiguration({ 'hide-types': true })
    .updateStrings({ 'Positionals:': 'Arguments:' })
    .wrap(Math.max(40, Math.min(100, process.stdout.columns || 100)))
    .usage("$0 <command>\n\nKeeps a chat bot's file storage in sync with directories on this machine.")
    .help(false)
    .version(false)
    .option('help', { alias: 'h', type: 'boolean', group: 'Options:', description: 'Show help' })
    .option('config', {
      group: GLOBAL,
      alias: 'c',
      type: 'string',
      description: 'Configuration file (default: $BOTSYNC_CONFIG, or botsync.config.json here or above)',
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

/** Rejects options that have an effect only on their own. Throws `UsageError`. */
function refuseIdleOptions({ version: asksForVersion, help }: Record<string, unknown>): void {
  if (help === true) throw new UsageError('-h is for help; write it by itself');
  if (asksForVersion !== true) return;
  throw new UsageError(
    '-v is for the version, without a command; for a more detailed log use --log-level debug',
  );
}

/** Rejects arguments that yargs would misread. Throws `UsageError`. */
function refuseOddOptions(options: Record<string, unknown>, args: readonly string[], parser: Argv): void {
  const { key, array } = parser.getOptions();
  for (const name of Object.keys(key)) {
    const value = options[name];
    const option = `${name.length === 1 ? '-' : '--'}${name}`;
    const odd = typeof value === 'boolean' ? args.find((arg) => isOddSwitch(arg, option)) : undefined;
    // yargs reads everything but "true" as "false".
    if (odd !== undefined) throw new UsageError(`${odd}: write ${option}, without a value`);
    if (Array.isArray(value) && name.length > 1 && !array.includes(name))
      throw new UsageError(`--${name} may be given once`);
  }
}

/** Returns whether an argument gives a switch a value other than true or false. */
function isOddSwitch(arg: string, option: string): boolean {
  return arg.startsWith(`${option}=`) && !['true', 'false'].includes(arg.slice(option.length + 1));
}

/** `null` if package.json has none. */
function homepage(): string | null {
  const manifest = JSON.parse(readFileSync(atRoot('package.json'), 'utf8')) as { homepage?: string };
  return manifest.homepage ?? null;
}

/** Returns the address of the documentation, or its path in the installation. */
function documentation(): string {
  return homepage() ?? fileURLToPath(atRoot('docs/COMMANDS.md'));
}

/** Returns a file of the package; works from here and from the bundle. */
function atRoot(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}
