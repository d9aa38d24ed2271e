import { UsageError } from '../usage-error.ts';
import { optionsOf, type Place } from './follow-words.ts';

/** The line that a mistake on the command line ends with. */
export function helpLine({ command }: Pick<Place, 'command'>): string {
  return `See ${['botsync', ...command.path].join(' ')} --help.`;
}

/** Throws `UsageError` for commands and options that do not exist, with the one that was probably meant. */
export async function checkWords(place: Place): Promise<void> {
  const { command, positionals, options, isPastOptions } = place;
  const [first] = positionals;
  const problems: string[] = [];
  if (command.commands.length > 0 && first !== undefined && !isPastOptions) {
    const names = command.commands.map(({ path }) => path.at(-1) ?? '');
    problems.push(`Unknown command: ${[...command.path, first].join(' ')}${await suggest(first, names, '')}`);
  } else {
    const unknown = new Set(options.flatMap(({ written, option }) => (option === null ? [written] : [])));
    const names = optionsOf(command, place.root).map(({ name }) => name);
    for (const written of unknown)
      problems.push(`Unknown option: ${written}${await suggest(written.replace(/^-+/u, ''), names, '--')}`);
  }
  if (problems.length > 0) throw new UsageError([...problems, helpLine(place)].join('\n'));
}

/** The name that was probably meant, as the end of a message; nothing where none is near. */
async function suggest(written: string, names: readonly string[], dashes: string): Promise<string> {
  // Only a mistake needs it, and it takes time to load.
  const { nearest } = await import('../../config/describe-issue.ts');
  const meant = nearest(written, names);
  return meant === null ? '' : `. Did you mean ${dashes}${meant}?`;
}

/** What yargs says of a command line, in words that need no knowledge of yargs. */
export function reworded(message: string, { command, positionals }: Place): string {
  const [, list] = /^Unknown arguments?: (.*)$/su.exec(message) ?? [];
  if (list !== undefined) return `Unexpected argument${list.includes(', ') ? 's' : ''}: ${list}`;
  const [, valueless] = /^Not enough arguments following: (.*)$/u.exec(message) ?? [];
  if (valueless !== undefined) return `${withDashes(valueless)} takes a value`;
  const [, missing] = /^Missing required arguments?: (.*)$/u.exec(message) ?? [];
  if (missing !== undefined) {
    const names = missing.split(', ').map(withDashes);
    return `${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} required`;
  }
  if (message.startsWith('Not enough non-option arguments')) {
    const names = command.positionals.filter(({ isRequired }) => isRequired).slice(positionals.length);
    return `${['botsync', ...command.path].join(' ')} takes ${names.map(({ name }) => `<${name}>`).join(' ')}`;
  }
  const [, choices] = /^Invalid values:\n(.*)$/su.exec(message) ?? [];
  if (choices === undefined) return message;
  return choices
    .split('\n')
    .map((line) => {
      const [, name = '', given = '', all = ''] =
        /Argument: (.*), Given: (.*), Choices: (.*)$/u.exec(line) ?? [];
      const isPositional = command.positionals.some((one) => one.name === name);
      return `${isPositional ? name : withDashes(name)}: ${given} is not one of ${all.replaceAll('"', '')}`;
    })
    .join('\n');
}

/** An option as it is written. */
export function withDashes(name: string): string {
  return `${name.length === 1 ? '-' : '--'}${name}`;
}
