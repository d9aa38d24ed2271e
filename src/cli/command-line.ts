import yargs, { type Argv } from 'yargs';
import { EXIT } from '../domain/exit-code.ts';
import { DEFAULT_CONFIG, LOG_FORMATS, LOG_LEVELS } from './global-options.ts';
import { isCompletionRequest } from './completion.ts';
import { addPlatformCommands } from './platform-commands.ts';
import { addSetupCommands } from './setup-commands.ts';
import { sourceStack } from './source-stack.ts';
import { UsageError } from './usage-error.ts';
import { version } from './version.ts';
import { printError } from './output.ts';

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
    if (error instanceof UsageError) {
      printError(error.message);
      return error.exitCode;
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
  const parser = yargs()
    .parserConfiguration({ 'boolean-negation': false })
    .scriptName('botsync')
    .usage("$0 <command>\n\nKeeps a chat bot's file storage equal to directories on this machine.")
    .option('config', {
      alias: 'c',
      type: 'string',
      description: 'Configuration file',
      default: process.env['BOTSYNC_CONFIG'] || DEFAULT_CONFIG,
      defaultDescription: '$BOTSYNC_CONFIG, or botsync.config.json here',
      requiresArg: true,
    })
    .option('emulator', {
      type: 'boolean',
      default: false,
      description:
        'Use the embedded emulator, kept in .botsync/emulator/ beside the config, not the platform',
    })
    .option('json', { type: 'boolean', default: false, description: 'Print results as JSON' })
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
    })
    .command(
      'sync',
      'Keep the platform up to date with the sources',
      (command) =>
        command
          .option('once', { type: 'boolean', default: false, description: 'One full pass, then exit' })
          .option('dry-run', {
            type: 'boolean',
            default: false,
            description: 'Print what would be done; send and write nothing',
          })
          .option('force', {
            type: 'string',
            description: 'Send again whatever the records say, all files or those that match GLOB',
            defaultDescription: 'all files',
          })
          .option('allow-removals', {
            type: 'boolean',
            default: false,
            description: 'Go ahead, this once, where a guard would halt a source',
          })
          .check(({ once, dryRun, force, allowRemovals }) => {
            if (once && dryRun) throw new UsageError('--once and --dry-run: write one of the two');
            if (allowRemovals && !once)
              throw new UsageError(
                '--allow-removals goes with --once; a running daemon takes botsync approve',
              );
            if (force !== undefined && !once && !dryRun)
              throw new UsageError('--force goes with --once or --dry-run');
            return true;
          })
          .example('$0 sync', 'Keep everything up to date until a signal ends it')
          .example('$0 sync --once --emulator', 'Try a configuration without the platform')
          .example("$0 sync --once --force 'reports/**'", 'Send some files again'),
      async (options) => {
        const { sync } = await import('./commands/sync.ts');
        done(await sync(options));
      },
    )
    .command(
      'approve [source]',
      'Let a running botsync go on with a halted source, or with all of them',
      (command) => command.positional('source', { type: 'string', description: 'The name of a source' }),
      async (options) => {
        const { approve } = await import('./commands/approve.ts');
        done(await approve(options));
      },
    )
    .command(
      'status',
      'What is in sync, what is not, and what expires next',
      (command) => command,
      async (options) => {
        const { status } = await import('./commands/status.ts');
        done(await status(options));
      },
    )
    .command(
      'explain <path>',
      'For one local file: its key, its rules, its upsert, and what a pass would do',
      (command) =>
        command.positional('path', { type: 'string', demandOption: true, description: 'A file of a source' }),
      async (options) => {
        const { explain } = await import('./commands/explain.ts');
        done(await explain(options));
      },
    )
    .command(
      'emulator',
      'Run the local platform until a signal ends it',
      (command) =>
        command
          .option('port', {
            type: 'number',
            default: 8787,
            description: 'Port on 127.0.0.1; 0 for any',
            requiresArg: true,
          })
          .option('data', {
            type: 'string',
            default: '.botsync/emulator',
            description: 'Directory for its data',
            requiresArg: true,
          })
          .option('bot', {
            type: 'string',
            array: true,
            description: 'A bot that exists: ID or ID=NAME',
            requiresArg: true,
          })
          .option('token', {
            type: 'string',
            description: 'The token to accept, as env:NAME or file:PATH; else one is made up',
            requiresArg: true,
          })
          .option('file-quota', {
            type: 'number',
            description: 'File Storage quota in bytes',
            requiresArg: true,
          })
          .option('vector-quota', {
            type: 'number',
            description: 'Vector DB Storage quota in bytes',
            requiresArg: true,
          })
          .option('operations', {
            choices: ['all', 'specified'] as const,
            default: 'all' as const,
            description: 'What it serves: all that it knows, or the five operations of the specification',
            requiresArg: true,
          })
          .option('indexing-delay', {
            type: 'string',
            description: 'How long an indexed file takes to be searchable, such as 2s',
            defaultDescription: 'none',
            requiresArg: true,
          })
          .option('fail-indexing', {
            type: 'string',
            array: true,
            description: 'Pattern of keys whose indexing fails; any number of them',
            requiresArg: true,
          })
          .check(({ port, fileQuota, vectorQuota }) => {
            const isWithin = (value: number, most: number): boolean =>
              Number.isInteger(value) && value >= 0 && value <= most;
            if (!isWithin(port, 65_535)) throw new UsageError('--port takes a number from 0 to 65535');
            const quotas = [fileQuota, vectorQuota].map((quota) => Number(quota ?? 0));
            if (!quotas.every((quota) => isWithin(quota, Number.MAX_SAFE_INTEGER)))
              throw new UsageError('--file-quota and --vector-quota take a number of bytes');
            return true;
          }),
      async (options) => {
        const { emulator } = await import('./commands/emulator.ts');
        done(await emulator(options));
      },
    );
  return addSetupCommands(addPlatformCommands(parser, done), done)
    .middleware((options) => {
      for (const [name, value] of Object.entries(options)) {
        const option = withDashes(name);
        const odd = typeof value === 'boolean' ? args.find((arg) => isOddSwitch(arg, option)) : undefined;
        // yargs takes whatever is not "true" for "false".
        if (odd !== undefined) throw new UsageError(`${odd}: write ${option}, without a value`);
        if (Array.isArray(value) && name.length > 1 && !MANY.has(`${options._[0] ?? ''} ${camelCase(name)}`))
          throw new UsageError(`--${name} may be given once`);
      }
    }, true)
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

/** Options that may be given more than once, in camel case, each after its command. */
const MANY = new Set(['emulator bot', 'emulator failIndexing', 'init index', 'conversation tag']);

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
