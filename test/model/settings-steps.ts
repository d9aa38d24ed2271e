import fc from 'fast-check';
import type { ModelSettings, ModelSource } from './model.ts';
import { IGNORE_SETS, RULE_SETS } from './rule-sets.ts';

/** What a source may be called, by its directory: a new name is no reason to send anything. */
const NAMES = { docs: ['docs', 'manual'], more: ['more', 'extra'] } as const;

const source = (
  directory: ModelSource['directory'],
  keyPrefixes: readonly string[],
  botIds: readonly string[],
) =>
  fc.record({
    directory: fc.constant(directory),
    name: fc.constantFrom(...NAMES[directory]),
    keyPrefix: fc.constantFrom(...keyPrefixes),
    botId: fc.constantFrom(...botIds),
    symlinks: fc.constantFrom('skip' as const, 'inside' as const, 'follow' as const),
    ignore: fc.nat(IGNORE_SETS.length - 1),
  });

const docs = source('docs', ['', '', 'c/'], ['bot-1']);
const more = source('more', ['', 'c/', 'm/'], ['bot-1', 'bot-1', 'bot-2']);

/** The same settings with a name for the source whose it may be. */
export function renamed({ sources, ...rest }: ModelSettings, name: string): ModelSettings {
  const isFor = ({ directory }: ModelSource) => NAMES[directory].some((one) => one === name);
  return { ...rest, sources: sources.map((one) => (isFor(one) ? { ...one, name } : one)) };
}

/** Every name a source may ever have. */
export const SOURCE_NAMES: readonly string[] = [...NAMES.docs, ...NAMES.more];

/** One or two sources, whose keys may collide, under any rules. */
export const settings: fc.Arbitrary<ModelSettings> = fc.record({
  sources: fc.oneof(
    docs.map((one) => [one]),
    fc.tuple(docs, more),
    fc.tuple(more, docs),
  ),
  rules: fc.nat(RULE_SETS - 1),
  removals: fc.constantFrom('keep' as const, 'expire' as const, 'delete' as const),
});
