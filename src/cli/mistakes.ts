import type { Argv } from 'yargs';
import { nearest } from '../config/guess.ts';
import { forbidColour } from './render/output.ts';
import { UsageError } from './usage-error.ts';

/** `usage`: `botsync explain <path>`. */
interface CommandHelp {
  readonly usage: string;
  readonly hasCommands: boolean;
}

/** Makes a parser throw `UsageError` for mistakes in `args`, in our words. */
export function refuseMistakes<Options>(parser: Argv<Options>, args: readonly string[]): Argv<Options> {
  let suggestion = '';
  return parser
    .middleware((options) => {
      if (options['no-color'] === true) forbidColour();
      refuseOddOptions(options, args, parser);
    }, true)
    .middleware(refuseIdleOptions)
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
}

/** The last line of an error message. `parser` stopped at the error. */
export function helpLine(parser: Argv): string {
  return `See ${commandIn(commandAt(parser).usage)} --help.`;
}

/** Translates a message of yargs for people who do not know yargs. `parser` stopped at the error. */
function describeMistake(message: string, args: readonly string[], parser: Argv): string {
  const command = commandAt(parser);
  const [, unknown] = /^Unknown arguments?: (.*)$/su.exec(message) ?? [];
  if (unknown !== undefined)
    return describeUnknown(unknown, args, command, Object.keys(parser.getOptions().key));
  return message
    .replace(/^Not enough arguments following: (.*)$/u, (_all, name: string) =>
      name.length === 1 ? `-${name} takes a value` : `--${name} takes a value`,
    )
    .replace(/^Missing required argument: (.*)$/u, '--$1 is required')
    .replace(/^Not enough non-option arguments.*$/u, `An argument is missing: ${command.usage}`)
    .replace(/^Invalid values:\n/u, '')
    .replaceAll(/^ {2}Argument: (.*), Given: (.*), Choices: (.*)$/gmu, '--$1: $2 is not one of $3');
}

function commandAt(parser: Argv): CommandHelp {
  let help = '';
  parser.showHelp((text) => {
    help = text;
  });
  return { usage: help.slice(0, help.indexOf('\n')), hasCommands: help.includes('\nCommands:\n') };
}

/** Returns the command in the first line of a help: `botsync explain`. */
export function commandIn(help: string): string {
  return help.replace(/(?: [<[]|\n).*/su, '');
}

/** `list` contains names of options without dashes, then arguments. */
function describeUnknown(
  list: string,
  args: readonly string[],
  command: CommandHelp,
  names: readonly string[],
): string {
  const unknown = list.split(', ');
  const word = unknown.find((one) => args.includes(one));
  if (command.hasCommands && word !== undefined)
    return `Unknown command: ${[...commandIn(command.usage).split(' ').slice(1), word].join(' ')}`;
  const options = new Set(unknown.flatMap((name) => args.find((arg) => isOption(arg, name)) ?? []));
  const long = names.filter((name) => name.length > 1);
  const problems = [...options].map((arg) => {
    const [written = ''] = arg.split('=');
    const meant = nearest(written.replace(/^-+/u, ''), long);
    return `Unknown option: ${written}${meant === null ? '' : `. Did you mean --${meant}?`}`;
  });
  return problems.length > 0 ? problems.join('\n') : `Unexpected argument: ${word ?? list}`;
}

/**
 * Returns whether an argument is this option. yargs reads `-once` as four options, and also reports names in camel
 * case.
 */
function isOption(arg: string, name: string): boolean {
  const [written = ''] = arg.split('=');
  return written === `--${name}` || (name.length === 1 && /^-[^-]/u.test(written) && written.includes(name));
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
