import type { Argv } from 'yargs';
import { nearest } from '../config/guess.ts';

/** `usage`: `botsync explain <path>`. */
interface CommandHelp {
  readonly usage: string;
  readonly hasCommands: boolean;
}

/** The last line of an error message. `parser` stopped at the error. */
export function helpLine(parser: Argv): string {
  return `See ${nameOf(commandAt(parser))} --help.`;
}

/** Translates a message of yargs for people who do not know yargs. `parser` stopped at the error. */
export function describeMistake(message: string, args: readonly string[], parser: Argv): string {
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

/** `botsync explain` */
function nameOf({ usage }: CommandHelp): string {
  return usage.replace(/ [<[].*/u, '');
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
    return `Unknown command: ${[...nameOf(command).split(' ').slice(1), word].join(' ')}`;
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
