import type { Option, Positional } from './command-catalog.ts';

/** What a value is: `files` and `directories` of this machine, `sources` of the configuration, `free` text. */
export type ValueKind = 'files' | 'directories' | 'sources' | 'commands' | 'free';

interface Value {
  /** What help calls it. */
  readonly name: string;
  readonly kind: ValueKind;
}

/** The values of options whose names do not say it. */
const OPTION_VALUES: Readonly<Record<string, Value>> = {
  config: { name: 'FILE', kind: 'files' },
  data: { name: 'DIR', kind: 'directories' },
  directory: { name: 'DIR', kind: 'directories' },
  to: { name: 'FILE', kind: 'files' },
  database: { name: 'REFERENCE', kind: 'free' },
  role: { name: 'ROLE', kind: 'free' },
  payload: { name: 'JSON', kind: 'files' },
  source: { name: 'SOURCE', kind: 'sources' },
  bot: { name: 'ID', kind: 'free' },
  workspace: { name: 'ID', kind: 'free' },
  conversation: { name: 'ID', kind: 'free' },
  force: { name: 'GLOB', kind: 'free' },
  index: { name: 'GLOB', kind: 'free' },
  'fail-indexing': { name: 'GLOB', kind: 'free' },
  tag: { name: 'NAME=VALUE', kind: 'free' },
  limit: { name: 'NUMBER', kind: 'free' },
  since: { name: 'DURATION', kind: 'free' },
  wait: { name: 'DURATION', kind: 'free' },
  watch: { name: 'DURATION', kind: 'free' },
  'indexing-delay': { name: 'DURATION', kind: 'free' },
  'fail-for': { name: 'DURATION', kind: 'free' },
  fail: { name: 'STATUS', kind: 'free' },
  slow: { name: 'BYTES', kind: 'free' },
  'file-quota': { name: 'BYTES', kind: 'free' },
  'vector-quota': { name: 'BYTES', kind: 'free' },
};

/** What positional arguments are, where they are not free text. */
const POSITIONAL_KINDS: Readonly<Record<string, ValueKind>> = {
  command: 'commands',
  path: 'files',
  source: 'sources',
};

/** What an option's value is called in help; the last word of the option's name unless it has another. */
export function valueName({ name }: Option): string {
  return OPTION_VALUES[name]?.name ?? (name.split('-').at(-1) ?? name).toUpperCase();
}

/** What an option's value is. */
export function kindOfOption({ name }: Option): ValueKind {
  return OPTION_VALUES[name]?.kind ?? 'free';
}

/** What a positional argument is. */
export function kindOfPositional({ name }: Positional): ValueKind {
  return POSITIONAL_KINDS[name] ?? 'free';
}
