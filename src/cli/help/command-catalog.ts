import type { Argv } from 'yargs';

/** A command as it was declared to yargs, the root (`botsync` itself) included. */
export interface Command {
  /** The words that name it after `botsync`; empty: the root. */
  readonly path: readonly string[];
  readonly description: string;
  readonly positionals: readonly Positional[];
  /** Its own options; those of the root go with every command. */
  readonly options: readonly Option[];
  readonly examples: readonly Example[];
  readonly commands: readonly Command[];
}

/** What a command takes by its place on the line. */
export interface Positional {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** It takes all words that follow. */
  readonly isMany: boolean;
  readonly choices: readonly string[];
  /** In words; `null`: there is no default. */
  readonly byDefault: string | null;
}

/** An option of a command. */
export interface Option {
  /** Without dashes. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly value: 'none' | 'optional' | 'required';
  readonly isNumber: boolean;
  readonly isRequired: boolean;
  /** It may be given more than once, and takes all words that follow. */
  readonly isMany: boolean;
  readonly choices: readonly string[];
  /** In words; `null`: there is no default, or it goes without saying. */
  readonly byDefault: string | null;
}

/** A command line, and what it is for. */
export interface Example {
  readonly command: string;
  readonly description: string;
}

/** Reads what would be declared to yargs, which does not give it back: the source of help, completion and man page. */
export function readCommands(declare: (parser: Argv) => unknown): Command {
  return read([], '', declare);
}

/** What a declaration may say of an option or a positional argument. */
interface Declared {
  readonly alias?: string;
  readonly type?: 'boolean' | 'number' | 'string';
  readonly array?: boolean;
  readonly choices?: readonly string[];
  readonly default?: unknown;
  readonly defaultDescription?: string;
  readonly demandOption?: boolean;
  readonly description?: string;
  readonly hidden?: boolean;
  readonly requiresArg?: boolean;
}

function read(path: readonly string[], usage: string, declare: (parser: Argv) => unknown): Command {
  const order = [...usage.matchAll(/[<[]([\w-]+)(\.\.)?[>\]]/gu)];
  const positionals = new Map<string, Positional>();
  const options: Option[] = [];
  const examples: Example[] = [];
  const commands: Command[] = [];
  let description = '';
  const declarations: Record<string, (...given: never[]) => void> = {
    usage: (text: string) => {
      description = text.split('\n\n').at(-1) ?? '';
    },
    option: (name: string, declared: Declared) => {
      if (declared.hidden !== true) options.push(readOption(name, declared));
    },
    positional: (name: string, declared: Declared) => {
      positionals.set(name, readPositional(name, usage, declared));
    },
    example: (command: string, text: string) => {
      examples.push({ command: command.replace('$0', 'botsync'), description: text });
    },
    command: (inner: string, text: string, build: (parser: Argv) => unknown) => {
      const [name = ''] = inner.split(' ');
      commands.push({ ...read([...path, name], inner, build), description: text });
    },
  };
  // Whatever else is declared says nothing that people read.
  const parser: Argv = new Proxy({} as Argv, {
    get:
      (_target, name) =>
      (...given: never[]) => {
        if (typeof name === 'string') declarations[name]?.(...given);
        return parser;
      },
  });
  declare(parser);
  const inOrder = order.flatMap(([, name = '']) => positionals.get(name) ?? []);
  return { path, description, positionals: inOrder, options, examples, commands };
}

function readOption(name: string, declared: Declared): Option {
  const { alias, type, array = false, choices = [], description = '' } = declared;
  return {
    ...{ name, description, choices, isMany: array },
    aliases: alias === undefined ? [] : [alias],
    value: type === 'boolean' ? 'none' : declared.requiresArg === true ? 'required' : 'optional',
    isNumber: type === 'number',
    isRequired: declared.demandOption === true,
    byDefault: describeDefault(declared),
  };
}

function readPositional(name: string, usage: string, declared: Declared): Positional {
  const { choices = [], description = '' } = declared;
  return {
    ...{ name, description, choices },
    isRequired: usage.includes(`<${name}`),
    isMany: usage.includes(`${name}..`),
    byDefault: describeDefault(declared),
  };
}

/** That a switch is off unless it is written goes without saying. */
function describeDefault({ default: value, defaultDescription }: Declared): string | null {
  if (defaultDescription !== undefined) return defaultDescription;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}
