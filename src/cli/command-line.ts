import type { Argv } from 'yargs';
import { EXIT } from '../domain/exit-code.ts';
import { SyncError } from '../library/sync-error.ts';
import { version } from '../library/version.ts';
import { sourceStack } from '../service/source-stack.ts';
import { addClusterCommands } from './cluster-commands.ts';
import { answerShell, COMPLETION_REQUEST } from './completion.ts';
import { addEmulatorCommand } from './emulator-command.ts';
import {
  defaultConfig,
  introduceConfig,
  LOG_FORMATS,
  LOG_LEVELS,
  type GlobalArguments,
} from './global-options.ts';
import { checkWords, helpLine, reworded, withDashes } from './help/check-words.ts';
import { readCommands, type Command } from './help/command-catalog.ts';
import { followWords, hasOption, isNamed, optionsOf, type Place } from './help/follow-words.ts';
import { helpText } from './help/help-text.ts';
import { createParser } from './parser.ts';
import { addPlatformCommands } from './platform-commands.ts';
import { addSetupCommands } from './setup-commands.ts';
import { addSyncCommands } from './sync-commands.ts';
import { exitCodeOfError, UsageError } from './usage-error.ts';
import { print, printError, shown } from './render/output.ts';
import { forbidColour } from './render/paint.ts';

/** Runs one command. Returns the exit code; a user's mistake is told on standard error without a stack. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const root = commandCatalog();
  const [first, ...rest] = args;
  if (first === COMPLETION_REQUEST) return await completeLine(rest, root);
  const place = followWords(args, root);
  try {
    return await runCommand(args, place);
  } catch (error) {
    if (!(error instanceof SyncError)) return reportDefect(error, isForPrograms(args));
    const { problems } = error;
    const message = withHelpLine(error, place);
    const exitCode = exitCodeOfError(error);
    if (isForPrograms(args)) printJsonError({ exitCode, message, problems });
    else printError(message);
    return exitCode;
  }
}

/** Answers a shell. What is being typed is seldom right yet, and a message would garble the line. */
async function completeLine(words: readonly string[], root: Command): Promise<number> {
  await answerShell(words, root).catch(() => undefined);
  return EXIT.ok;
}

async function runCommand(args: readonly string[], place: Place): Promise<number> {
  if (hasOption(place, 'help')) {
    showHelp(place);
    return EXIT.ok;
  }
  await checkWords(place);
  if (hasOption(place, 'version')) {
    refuseVerbose(place);
    print(version());
    return EXIT.ok;
  }
  let exitCode: number = EXIT.ok;
  const given = withPathsLast(args);
  const done = (code: number): void => {
    exitCode = code;
  };
  await program(done, given, place).parseAsync(given);
  return exitCode;
}

/** What is wrong with an option is told with where to read of it. */
function withHelpLine({ message, code }: SyncError, place: Place): string {
  const isOfOption = code === 'usage' && message.startsWith('-');
  return isOfOption && !message.endsWith(' --help.') ? `${message}\n${helpLine(place)}` : message;
}

/** All commands with their options, as they are declared. */
export function commandCatalog(): Command {
  return readCommands((parser) => declareCommands(parser, () => undefined));
}

/** Tells of an error that nothing expected. Returns the exit code. */
export function reportDefect(error: unknown, asJson: boolean): number {
  const message = `This is a defect of botsync ${version()}, please report it:\n${sourceStack(error)}`;
  if (asJson) printJsonError({ exitCode: EXIT.defect, message });
  else printError(message);
  return EXIT.defect;
}

/** Throws `UsageError` for `sync -v`, which is meant to say more, not to do nothing. */
function refuseVerbose(place: Place): void {
  if (place.command === place.root || !place.options.some(({ written }) => written === '-v')) return;
  const message = '-v is for the version, without a command; for a more detailed log use --log-level debug';
  throw new UsageError(message);
}

/** Prints the help of the command that a line is about. */
function showHelp({ command, root }: Place): void {
  print(helpText(command, root, Math.max(40, Math.min(100, process.stdout.columns || 100))));
}

/** Whether `--json` is among the arguments: what is wrong with them may keep them from being parsed. */
export function isForPrograms(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const options = end === -1 ? args : args.slice(0, end);
  return options.includes('--json') || options.includes('--json=true');
}

/** An error as one line of JSON, which `kind` tells from lines of the log. */
function printJsonError({
  problems = [],
  exitCode,
  message,
}: Pick<SyncError, 'message'> & Partial<Pick<SyncError, 'problems'>> & { readonly exitCode: number }): void {
  printError(
    shown(JSON.stringify({ kind: 'error', exitCode, message, ...(problems.length > 0 && { problems }) })),
  );
}

/** What follows `--` is a path for `explain`, whatever it looks like. yargs takes no positional argument there. */
function withPathsLast(args: readonly string[]): string[] {
  if (!args.includes('explain') || !args.includes('--')) return [...args];
  const end = args.indexOf('--');
  const paths = args.slice(end + 1).map((path) => (path.startsWith('-') ? `./${path}` : path));
  return [...args.slice(0, end), ...paths];
}

function program(done: (code: number) => void, args: readonly string[], place: Place): Argv {
  // Help and version are declared as options, and done before yargs is asked.
  return declareCommands(createParser(), done)
    .middleware((options) => {
      if (options['no-color']) forbidColour();
      refuseOddOptions(options, args, place);
    }, true)
    .middleware((options) => {
      if (WITHOUT_CONFIG.has(`${options._[0] ?? ''}`)) return;
      const introduction = introduceConfig(options);
      if (introduction !== null) printError(introduction);
    })
    .demandCommand(1, 1, 'Name a command.', 'Name one command only.')
    .strict()
    .exitProcess(false)
    .fail((message: string | null, error: Error | undefined) => {
      // yargs' own errors are of this name, and are about what was typed.
      if (error !== undefined && error.name !== 'YError') throw error;
      throw new UsageError(`${reworded(message ?? 'Unknown command', place)}\n${helpLine(place)}`);
    });
}

/** Declares all commands and options to a parser. `done` takes the exit code of the one that runs. */
function declareCommands(parser: Argv, done: (code: number) => void): Argv<GlobalArguments> {
  const adders = [
    addSyncCommands,
    addEmulatorCommand,
    addPlatformCommands,
    addClusterCommands,
    addSetupCommands,
  ];
  return adders
    .reduce((declared, add) => add(declared, done), withGlobalOptions(parser))
    .command(
      'help [command..]',
      'Show the help of a command',
      (command) =>
        command
          .positional('command', { type: 'string', array: true, default: [], description: 'The command' })
          .example('$0 help sync', 'The same as botsync sync --help'),
      async ({ command }) => {
        const place = followWords(command, commandCatalog());
        await checkWords(place);
        showHelp(place);
        done(EXIT.ok);
      },
    );
}

/** Commands that read no configuration. */
const WITHOUT_CONFIG = new Set(['init', 'completion', 'emulator', 'help']);

/** Adds what every command takes. */
function withGlobalOptions(parser: Argv): Argv<GlobalArguments> {
  return parser
    .parserConfiguration({ 'boolean-negation': false })
    .scriptName('botsync')
    .usage("$0 <command>\n\nKeeps a chat bot's file storage in sync with directories on this machine.")
    .option('config', {
      alias: 'c',
      type: 'string',
      description: 'Configuration file',
      default: defaultConfig(),
      defaultDescription: '$BOTSYNC_CONFIG, or botsync.config.json here or above',
      requiresArg: true,
    })
    .option('emulator', {
      type: 'boolean',
      default: false,
      description:
        'Use the embedded emulator instead of the platform; its data is in .botsync/emulator/ next to the config',
    })
    .option('json', { type: 'boolean', default: false, description: 'Print results as JSON' })
    .option('no-color', {
      type: 'boolean',
      default: false,
      description: 'Write without colours, as with NO_COLOR=1',
    })
    .option('log-level', {
      choices: LOG_LEVELS,
      requiresArg: true,
      description: 'Least important log lines to write',
      defaultDescription: 'info; on a terminal warn, but for the daemon',
    })
    .option('log-format', {
      choices: LOG_FORMATS,
      requiresArg: true,
      default: 'auto' as const,
      description: 'Format of log lines',
    })
    .option('help', { alias: 'h', type: 'boolean', description: 'Show help' })
    .option('version', { alias: 'v', type: 'boolean', description: 'Show the version' })
    .example('$0 init', 'Write a configuration')
    .example('$0 sync --dry-run', 'Show what a pass would do')
    .example('$0 sync', 'Run as a service: sync changes until a signal ends it');
}

/** Throws `UsageError` for what yargs would take for something else than was meant. */
function refuseOddOptions(options: Record<string, unknown>, args: readonly string[], place: Place): void {
  const { command, root } = place;
  const many = optionsOf(command, root).filter(({ isMany }) => isMany);
  const all = command.positionals.filter(({ isMany }) => isMany).map(({ name }) => name);
  for (const [name, value] of Object.entries(options)) {
    const option = withDashes(name);
    const odd = typeof value === 'boolean' ? args.find((arg) => isOddSwitch(arg, option)) : undefined;
    // yargs takes whatever is not "true" for "false".
    if (odd !== undefined) throw new UsageError(`${odd}: write ${option}, without a value`);
    const mayRepeat = all.includes(name) || many.some((one) => isNamed(one, option));
    if (Array.isArray(value) && name.length > 1 && !mayRepeat)
      throw new UsageError(`--${name} may be given once`);
  }
}

/** Whether an argument gives a switch a value that does not say on or off. */
function isOddSwitch(arg: string, option: string): boolean {
  return arg.startsWith(`${option}=`) && !['true', 'false'].includes(arg.slice(option.length + 1));
}
