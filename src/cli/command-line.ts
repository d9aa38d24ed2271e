import { readFileSync } from 'node:fs';
import yargs, { type Argv } from 'yargs';
import { fileURLToPath } from 'url';
import { EXIT } from '../domain/exit-code.ts';
import { SyncError } from '../run/sync-error.ts';
import { version } from '../run/version.ts';
import { sourceStack } from '../service/source-stack.ts';
import { commandIn, helpLine, refuseMistakes } from './mistakes.ts';
import { addEmulatorCommand, addPlatformCommands, addSetupCommands } from './platform-commands.ts';
import {
  introduceConfig,
  PURPOSE,
  withGlobalOptions,
  type GlobalOptions,
  type GlobalArguments,
  type RunCommand,
} from './global-options.ts';
import { addClusterCommands, addSyncCommands } from './sync-commands.ts';
import { exitCodeOfError, UsageError } from './usage-error.ts';
import { print, printError, shown } from './render/output.ts';

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
    await declareCommands(yargs(), parseOnly).parseAsync(args, {}, printOutput);
  } catch {
    // No completions.
  }
  return EXIT.ok;
}

function printOutput(_error: unknown, _options: unknown, output: string): void {
  if (output !== '') print(output);
}

function showCompletionScript(parser: Argv): Promise<number> {
  parser.showCompletionScript();
  return Promise.resolve(EXIT.ok);
}

/** Prints the help of the command in `args`. */
async function showHelp(args: readonly string[]): Promise<number> {
  print(`${await helpOf(args)}\n\nDocumentation: ${documentation()}`);
  return EXIT.ok;
}

function helpOf(args: readonly string[]): Promise<string> {
  return declareCommands(yargs([...args]), parseOnly).getHelp();
}

/** `botsync help`. Throws `UsageError` for an unknown command, whose help would be that of the commands around it. */
async function showHelpOf({ command }: { readonly command: readonly string[] }): Promise<number> {
  if (commandIn(await helpOf(command)) !== ['botsync', ...command].join(' '))
    await refuseMistakes(declareCommands(yargs(), parseOnly), command).parseAsync(command);
  return await showHelp(command);
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

/** Returns the parser of a command line. `done` gets the exit code. */
function program(args: readonly string[], done: (code: number) => void): Argv {
  const run: RunCommand = (load) => async (options) => {
    const command = await load();
    done(await command(options));
  };
  return refuseMistakes(declareCommands(yargs(), run), args)
    .middleware(
      // A promise for other lines would make yargs mix up the errors of their options.
      (options) => (options._.length > 0 || options.json ? undefined : refuseToGuess(options)),
      true,
    )
    .middleware((options) => {
      if (WITHOUT_CONFIG.has(`${options._[0] ?? ''}`)) return;
      const introduction = introduceConfig(options);
      if (introduction !== null) printError(introduction);
    });
}

/** Throws `UsageError` for a line without a command: what botsync is, and which command comes next. */
async function refuseToGuess(options: GlobalOptions): Promise<never> {
  const { describeHere } = await import('./here.ts');
  throw new UsageError(`${PURPOSE}\n${await describeHere(options)}\nSee botsync --help.`);
}

/** Runs nothing. */
const parseOnly: RunCommand = () => () => Promise.resolve();

function declareCommands(parser: Argv, run: RunCommand): Argv<GlobalArguments> {
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
      run(() => Promise.resolve(() => showCompletionScript(parser))),
    )
    .command(
      'help [command..]',
      'Show the help of a command',
      (command) =>
        command
          .positional('command', { type: 'string', array: true, default: [], description: 'The command' })
          .example('$0 help sync', 'The same as botsync sync --help'),
      run(() => Promise.resolve(showHelpOf)),
    );
}

/** Commands that read no configuration. */
const WITHOUT_CONFIG = new Set(['init', 'completion', 'emulator', 'help']);

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
