import type { Command, Option } from './command-catalog.ts';

/** Where the words of a command line lead. */
export interface Place {
  readonly root: Command;
  readonly command: Command;
  /** The options that were written, each as it was written, without its value. */
  readonly options: readonly WrittenOption[];
  readonly positionals: readonly string[];
  /** The option that the next word is a value of, if it is no option itself. */
  readonly open: Option | null;
  /** After `--` no word is an option. */
  readonly isPastOptions: boolean;
}

/** An option on the line. */
interface WrittenOption {
  /** With its dashes. */
  readonly written: string;
  /** `null`: neither the command nor the root has it. */
  readonly option: Option | null;
  /** The last value that was written for it. */
  readonly value: string | null;
}

/** Follows the words of a command line, without the program's name, as yargs would take them. */
export function followWords(words: readonly string[], root: Command): Place {
  const walk = new Walk(root);
  for (const word of words) walk.take(word);
  return walk.place();
}

/** An option while its command may still be unknown. */
interface Guess {
  readonly written: string;
  readonly option: Option | null;
  value: string | null;
}

class Walk {
  readonly #root: Command;
  readonly #letters: ReadonlySet<string>;
  readonly #positionals: string[] = [];
  readonly #options: Guess[] = [];
  #command: Command;
  /** The option that the next word may be a value of. */
  #open: Guess | null = null;
  #isPastOptions = false;

  constructor(root: Command) {
    this.#root = root;
    this.#command = root;
    this.#letters = lettersOf(root);
  }

  take(word: string): void {
    const open = this.#open;
    if (this.#isPastOptions) this.#positionals.push(word);
    else if (open !== null && takesWord(open.option, word)) {
      open.value = word;
      if (open.option?.isMany !== true) this.#open = null;
    } else if (word === '--') {
      this.#isPastOptions = true;
      this.#open = null;
    } else if (isOption(word)) this.#takeOptions(word);
    else this.#takeName(word);
  }

  place(): Place {
    const option = this.#open?.option ?? null;
    return {
      ...{ root: this.#root, command: this.#command, positionals: this.#positionals },
      isPastOptions: this.#isPastOptions,
      open: option?.value === 'none' ? null : option,
      options: this.#options.map(({ written, value }) => ({
        ...{ written, value },
        option: findOption(written, this.#command, this.#root),
      })),
    };
  }

  #takeOptions(word: string): void {
    for (const { written, value } of splitOption(word, this.#letters)) {
      // What comes before its command is known by name alone.
      const option = findOption(written, this.#command, this.#root) ?? findAnywhere(written, this.#root);
      this.#options.push({ written, value, option });
    }
    const latest = this.#options.at(-1);
    const isOpen = latest !== undefined && (latest.value === null || latest.option?.isMany === true);
    this.#open = isOpen ? latest : null;
  }

  #takeName(word: string): void {
    this.#open = null;
    const isFirst = this.#positionals.length === 0;
    const inner = isFirst ? this.#command.commands.find(({ path }) => path.at(-1) === word) : undefined;
    if (inner === undefined) this.#positionals.push(word);
    else this.#command = inner;
  }
}

/** All options that a command takes, its own first. */
export function optionsOf(command: Command, root: Command): readonly Option[] {
  return command === root ? root.options : [...command.options, ...root.options];
}

/** Whether an option was written, by any of its names. */
export function hasOption({ options }: Place, name: string): boolean {
  return options.some(({ option }) => option?.name === name);
}

/** What an option was given last; `null`: nothing. */
export function valueOf({ options }: Place, name: string): string | null {
  return options.findLast(({ option }) => option?.name === name)?.value ?? null;
}

/** A number may be negative, and a lone dash is standard input. */
function isOption(word: string): boolean {
  return /^-[^\d]/u.test(word);
}

function takesWord(option: Option | null, word: string): boolean {
  if (option === null || isOption(word)) return false;
  return option.value !== 'none' || word === 'true' || word === 'false';
}

/**
 * The options of one word: several letters may share a dash, `-yc`, if each is an option of one letter; what else has one
 * dash is a name that lacks the second. A value may follow a letter at once where it begins with none: `-c./a.json`.
 */
function splitOption(word: string, known: ReadonlySet<string>): { written: string; value: string | null }[] {
  const [, name = word, value = null] = /^(--?[^=]+)(?:=(.*))?$/su.exec(word) ?? [];
  if (name.startsWith('--')) return [{ written: name, value }];
  const [, letter = '', rest = ''] = /^-([a-z])(\W.*)?$/isu.exec(word) ?? [];
  if (rest !== '') return [{ written: `-${letter}`, value: rest.replace(/^=/u, '') }];
  const letters = name.slice(1).split('');
  if (!letters.every((one) => known.has(one))) return [{ written: name, value }];
  return letters.map((one) => ({ written: `-${one}`, value }));
}

/** All options of one letter, of any command. */
function lettersOf({ options, commands }: Command): ReadonlySet<string> {
  const own = options.flatMap(({ aliases }) => aliases.filter((alias) => alias.length === 1));
  return new Set([...own, ...commands.flatMap((command) => [...lettersOf(command)])]);
}

function findOption(written: string, command: Command, root: Command): Option | null {
  return optionsOf(command, root).find((option) => isNamed(option, written)) ?? null;
}

function findAnywhere(written: string, { options, commands }: Command): Option | null {
  const own = options.find((option) => isNamed(option, written));
  if (own !== undefined) return own;
  for (const command of commands) {
    const found = findAnywhere(written, command);
    if (found !== null) return found;
  }
  return null;
}

/** Whether an option is meant by a name with its dashes; yargs takes it in camel case as well. */
export function isNamed({ name, aliases }: Option, written: string): boolean {
  const isLong = written.startsWith('--');
  const given = written.replace(/^--?/u, '');
  if (!isLong) return given.length === 1 && (aliases.includes(given) || name === given);
  return name === given || camelCase(name) === given || aliases.includes(given);
}

function camelCase(name: string): string {
  return name.replaceAll(/-+([^-])/gu, (_dashes, letter: string) => letter.toUpperCase());
}
