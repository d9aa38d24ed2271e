import type { Command, Option } from './command-catalog.ts';
import { followWords, hasOption, optionsOf, valueOf, type Place } from './follow-words.ts';
import { kindOfOption, kindOfPositional, type ValueKind } from './value-kinds.ts';

/** A word that may come next, and what it means. */
export interface Candidate {
  readonly word: string;
  readonly description: string;
}

/** What may come next on a line. `config`: the configuration that the line names; `null`: none. */
export type Completions =
  | { readonly kind: 'words'; readonly candidates: readonly Candidate[] }
  | { readonly kind: 'files' | 'directories' }
  | { readonly kind: 'sources'; readonly config: string | null };

/** The completions of the last word, and what of it they follow: `--config=` of `--config=a`. */
export interface Completed {
  readonly prefix: string;
  readonly completions: Completions;
}

/** What the last of the words (without the program's name) may become. Words that do not begin as it does are left out. */
export function complete(words: readonly string[], root: Command): Completed {
  const current = words.at(-1) ?? '';
  const place = followWords(words.slice(0, -1), root);
  const [, name = '', begun = ''] = /^(--[^=]+)=(.*)$/su.exec(current) ?? [];
  if (name !== '' && !place.isPastOptions) {
    const option = followWords([name], { ...root, options: optionsOf(place.command, root) }).open;
    return {
      prefix: `${name}=`,
      completions: option === null ? wordsOf([], '') : ofOption(option, place, begun),
    };
  }
  return { prefix: '', completions: ofWord(current, place) };
}

function ofWord(current: string, place: Place): Completions {
  const { command, root, open, positionals, isPastOptions } = place;
  if (!isPastOptions && current.startsWith('-')) return wordsOf(optionCandidates(place), current);
  if (open !== null) return ofOption(open, place, current);
  if (command.commands.length > 0)
    return positionals.length > 0 ? wordsOf([], '') : wordsOf(commandCandidates(command), current);
  const { positionals: declared } = command;
  const last = declared.at(-1);
  const positional = declared[positionals.length] ?? (last?.isMany === true ? last : undefined);
  if (positional === undefined) return wordsOf(optionCandidates(place), current);
  if (positional.choices.length > 0) return wordsOf(positional.choices.map(plain), current);
  const kind = kindOfPositional(positional);
  if (kind === 'commands') {
    const { command: inner } = followWords(positionals, root);
    return wordsOf(commandCandidates(inner), current);
  }
  return ofKind(kind, place);
}

function ofOption(option: Option, place: Place, begun: string): Completions {
  if (option.choices.length > 0) return wordsOf(option.choices.map(plain), begun);
  return ofKind(kindOfOption(option), place);
}

function ofKind(kind: ValueKind, place: Place): Completions {
  switch (kind) {
    case 'files':
    case 'directories':
      return { kind };
    case 'sources':
      return { kind, config: valueOf(place, 'config') };
    case 'commands':
    case 'free':
      return wordsOf([], '');
  }
}

/** The options that may still be written. */
function optionCandidates(place: Place): Candidate[] {
  return optionsOf(place.command, place.root)
    .filter(({ name, isMany }) => isMany || !hasOption(place, name))
    .map(({ name, description }) => ({ word: `--${name}`, description }));
}

function commandCandidates({ commands }: Command): Candidate[] {
  return commands.map(({ path, description }) => ({ word: path.at(-1) ?? '', description }));
}

function plain(word: string): Candidate {
  return { word, description: '' };
}

function wordsOf(candidates: readonly Candidate[], begun: string): Completions {
  return { kind: 'words', candidates: candidates.filter(({ word }) => word.startsWith(begun)) };
}
