import { documentation } from '../documentation.ts';
import type { Command, Option, Positional } from './command-catalog.ts';
import { valueName } from './value-kinds.ts';

/** The left column is no wider than this; what is longer has a line of its own. */
const WIDEST_NAME = 32;

/** Two columns of text. */
export interface Row {
  readonly name: string;
  readonly text: string;
}

/** The help of a command: what it does, its own options, those of every command, examples, and where the documentation is. */
export function helpText(command: Command, root: Command, columns: number): string {
  const usage = usageLine(command);
  const about = command === root ? [] : section('Options', optionRows(command.options), columns);
  const commands = command.commands.map((one) => ({
    name: [...one.path, ...positionalNames(one)].join(' '),
    text: one.description,
  }));
  return [
    wrap(usage, columns),
    wrap(command.description, columns),
    section('Commands', commands, columns),
    section('Arguments', command.positionals.map(positionalRow), columns),
    about,
    section(command === root ? 'Options' : 'Global options', optionRows(root.options), columns),
    examples(command, columns),
    [
      ...(command === root ? ['Help for one command: botsync help COMMAND'] : []),
      `Documentation: ${documentation()}`,
    ],
  ]
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n');
}

/** How a command is written. */
export function usageLine(command: Command): string {
  return [
    'botsync',
    ...command.path,
    ...(command.commands.length === 0 ? positionalNames(command) : ['<command>']),
    ...command.options.filter(({ isRequired }) => isRequired).map((option) => optionName(option)),
    '[options]',
  ].join(' ');
}

/** The options of a command in their order, those of one letter first in each name. */
export function optionRows(options: readonly Option[]): Row[] {
  return options.map((option) => {
    const letters = option.aliases.filter((alias) => alias.length === 1).map((alias) => `-${alias}, `);
    const name = `${letters.join('') || '    '}${optionName(option)}`;
    return { name, text: withFacts(option.description, option.choices, option.byDefault) };
  });
}

/** A positional argument with what it is. */
export function positionalRow({ name, description, choices, byDefault }: Positional): Row {
  return { name: `<${name}>`, text: withFacts(description, choices, byDefault) };
}

/** Breaks a text between words into lines of at most so many characters. */
function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= columns)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function optionName(option: Option): string {
  const value = valueName(option);
  switch (option.value) {
    case 'none':
      return `--${option.name}`;
    case 'optional':
      return `--${option.name} [${value}]`;
    case 'required':
      return `--${option.name} ${value}`;
  }
}

function positionalNames({ positionals }: Command): string[] {
  return positionals.map(({ name, isRequired, isMany }) => {
    const all = `${name}${isMany ? '...' : ''}`;
    return isRequired ? `<${all}>` : `[${all}]`;
  });
}

function withFacts(description: string, choices: readonly string[], byDefault: string | null): string {
  const facts = [
    ...(choices.length === 0 ? [] : [choices.join(', ')]),
    ...(byDefault === null ? [] : [`default: ${byDefault}`]),
  ];
  return facts.length === 0 ? description : `${description} (${facts.join('; ')})`;
}

function section(title: string, rows: readonly Row[], columns: number): string[] {
  if (rows.length === 0) return [];
  const widest = Math.max(
    ...rows.map(({ name }) => name.length).filter((length) => length <= WIDEST_NAME),
    0,
  );
  return [`${title}:`, ...rows.flatMap((row) => rowLines(row, widest + 4, columns))];
}

function rowLines({ name, text }: Row, indent: number, columns: number): string[] {
  const [first = '', ...others] = wrap(text, Math.max(columns - indent, 20));
  const begin = `  ${name}`;
  const rest = others.map((line) => `${' '.repeat(indent)}${line}`);
  return begin.length + 2 <= indent
    ? [`${begin.padEnd(indent)}${first}`, ...rest]
    : [begin, `${' '.repeat(indent)}${first}`, ...rest];
}

/** A command line is never broken: it is there to be copied. */
function examples({ examples: all }: Command, columns: number): string[] {
  if (all.length === 0) return [];
  const rows = all.map(({ command, description }) => ({ name: command, text: description }));
  const widest = Math.max(...rows.map(({ name }) => name.length));
  const fits = widest + 4 + 20 <= columns;
  return ['Examples:', ...rows.flatMap((row) => rowLines(row, fits ? widest + 4 : 6, columns))];
}
