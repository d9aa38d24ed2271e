import yargs, { type Argv } from 'yargs';
import { EXIT } from '../domain/exit-code.ts';
import { isCompletionRequest } from './completion.ts';
import { addEmulatorCommand } from './emulator-command.ts';
import {
  defaultConfig,
  introduceConfig,
  LOG_FORMATS,
  LOG_LEVELS,
  type GlobalArguments,
} from './global-options.ts';
import { addPlatformCommands } from './platform-commands.ts';
import { addSetupCommands } from './setup-commands.ts';
import { sourceStack } from '../service/source-stack.ts';
import { addSyncCommands } from './sync-commands.ts';
import { exitCodeOfError, UsageError } from './usage-error.ts';
import { version } from '../library/version.ts';
import { printError } from './render/output.ts';
import { SyncError } from '../library/sync-error.ts';
import { forbidColour } from './render/paint.ts';

/** Runs one command. Returns the exit code; a user's mistake is told on standard error without a stack. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.ok;
  const done = (code: number): void => {
    exitCode = code;
  };
  const isForShell = isCompletionRequest(args);
  // Every command has yargs write the help, read or not; breaking its lines is what takes long.
  const isForHelp = args.some((arg) => HELP.test(arg));
  const given = isForShell ? [...args] : withPathsLast(args);
  const parser = program(done, isForHelp, given);
  try {
    await parser.parseAsync(given);
    return exitCode;
  } catch (error) {
    // What is being typed is seldom right yet, and a message would garble the line.
    if (isForShell) return EXIT.ok;
    if (error instanceof SyncError) {
      printError(error.message);
      return exitCodeOfError(error);
    }
    return reportDefect(error);
  }
}

/** Tells of an error that nothing expected. Returns the exit code. */
export function reportDefect(error: unknown): number {
  printError(`This is a defect of botsync ${version()}, please report it:\n${sourceStack(error)}`);
  return EXIT.defect;
}

/** `help`, `--help` and `--help=true`, `-h` alone or among other letters. */
const HELP = /^(?:help|--help.*|-[a-z]*h.*)$/u;

/** What follows `--` is a path for `explain`, whatever it looks like. yargs takes no positional argument there. */
function withPathsLast(args: readonly string[]): string[] {
  if (!args.includes('explain') || !args.includes('--')) return [...args];
  const end = args.indexOf('--');
  const paths = args.slice(end + 1).map((path) => (path.startsWith('-') ? `./${path}` : path));
  return [...args.slice(0, end), ...paths];
}

function program(done: (code: number) => void, isForHelp: boolean, args: readonly string[]): Argv {
  const adders = [addSyncCommands, addEmulatorCommand, addPlatformCommands, addSetupCommands];
  return adders
    .reduce((parser, add) => add(parser, done), withGlobalOptions(yargs()))
    .middleware((options) => {
      if (options['no-color']) forbidColour();
      refuseOddOptions(options, args);
    }, true)
    .middleware((options) => {
      if (WITHOUT_CONFIG.has(`${options._[0] ?? ''}`)) return;
      const introduction = introduceConfig(options);
      if (introduction !== null) printError(introduction);
    })
    .demandCommand(1, 1, 'Name a command.', 'Name one command only.')
    .strict()
    .recommendCommands()
    .help()
    .alias('help', 'h')
    .version(version())
    .wrap(isForHelp ? Math.min(100, process.stdout.columns || 100) : null)
    .exitProcess(false)
    .fail((message: string | null, error: Error | undefined) => {
      // yargs' own errors are of this name, and are about what was typed.
      if (error !== undefined && error.name !== 'YError') throw error;
      throw new UsageError(`${reworded(message ?? 'unknown command')}\nSee botsync --help.`);
    });
}

/** Commands that read no configuration. */
const WITHOUT_CONFIG = new Set(['init', 'completion', 'emulator']);

/** Adds what every command takes. */
function withGlobalOptions(parser: Argv): Argv<GlobalArguments> {
  return parser
    .parserConfiguration({ 'boolean-negation': false })
    .scriptName('botsync')
    .usage("$0 <command>\n\nKeeps a chat bot's file storage equal to directories on this machine.")
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
        'Use the embedded emulator, kept in .botsync/emulator/ beside the config, not the platform',
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
      description: 'Form of log lines',
    });
}

/** Throws `UsageError` for what yargs would take for something else than was meant. */
function refuseOddOptions(
  options: Record<string, unknown> & { _: (string | number)[] },
  args: readonly string[],
): void {
  for (const [name, value] of Object.entries(options)) {
    const option = withDashes(name);
    const odd = typeof value === 'boolean' ? args.find((arg) => isOddSwitch(arg, option)) : undefined;
    // yargs takes whatever is not "true" for "false".
    if (odd !== undefined) throw new UsageError(`${odd}: write ${option}, without a value`);
    if (Array.isArray(value) && name.length > 1 && !MANY.has(`${options._[0] ?? ''} ${camelCase(name)}`))
      throw new UsageError(`--${name} may be given once`);
  }
}

/** Options that may be given more than once, in camel case, each after its command. */
const MANY = new Set([
  'emulator bot',
  'emulator failIndexing',
  'init index',
  'conversation tag',
  'search tag',
]);

/** Whether an argument gives a switch a value that does not say on or off. */
function isOddSwitch(arg: string, option: string): boolean {
  return arg.startsWith(`${option}=`) && !['true', 'false'].includes(arg.slice(option.length + 1));
}

function withDashes(name: string): string {
  return `${name.length === 1 ? '-' : '--'}${name}`;
}

/** What yargs says, in words of ours where its own are unclear: it tells of an unknown `--no-such` a second time, as `noSuch`. */
function reworded(message: string): string {
  const [, valueless] = /^Not enough arguments following: (.*)$/u.exec(message) ?? [];
  if (valueless !== undefined) return `${withDashes(valueless)} takes a value`;
  const [, list] = /^Unknown arguments: (.*)$/u.exec(message) ?? [];
  if (list === undefined) return message;
  const names = list.split(', ');
  const twins = new Set(names.filter((name) => name.includes('-')).map(camelCase));
  const told = names.filter((name) => !twins.has(name));
  return `Unknown argument${told.length === 1 ? '' : 's'}: ${told.join(', ')}`;
}

function camelCase(name: string): string {
  return name.replaceAll(/-+([^-])/gu, (_dashes, letter: string) => letter.toUpperCase());
}
