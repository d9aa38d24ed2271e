import { expect, test } from 'vitest';
import { lookAhead, type LookAheadInput } from '../../../src/sync/plan/look-ahead.ts';
import { Claims } from '../../../src/sync/plan/claims.ts';
import { enterSource } from '../../../src/sync/sources/enter-source.ts';
import { findSources } from '../../../src/sync/sources/source.ts';
import { descriptorsBelow } from '../../descriptors.ts';
import { createWorld } from '../world.ts';

/** A look ahead at a world with very many files, none of them on record yet. */
async function world(): Promise<{ input: LookAheadInput; docs: string }> {
  const { at, write, open, config: configOf } = await createWorld();
  for (let n = 0; n < 3000; n++) write(`docs/${n}`, '');
  const config = configOf();
  const sources = findSources(config, config.platform.baseUrl);
  const state = open();
  const claims = new Claims(state, sources);
  const clocks = { platformNow: Date.now, now: Date.now };
  return { input: { config, sources, state, claims, ...clocks, isForced: () => false }, docs: at('docs') };
}

test('a source is entered step by step: a directory of very many files keeps nobody waiting', async () => {
  const { input } = await world();
  const [found] = input.sources;
  if (found?.kind !== 'found') throw new Error(found?.kind);
  const entering = enterSource(found.source, 0, input.state, 'keep', () => false);
  let turns = 0;
  let step = entering.next();
  for (; step.done !== true; step = entering.next()) turns += 1;
  expect(step.value.kind).toBe('open');
  expect(turns).toBeGreaterThanOrEqual(10);

  let before = 0;
  for (const ahead of lookAhead(input)) {
    if (ahead.kind !== 'item' || ahead.item.kind !== 'tick') break;
    before += 1;
  }
  expect(before).toBeGreaterThanOrEqual(turns);
});

test('whoever stops looking ahead leaves no directory open', async () => {
  const { input, docs } = await world();
  for (let time = 0; time < 20; time++) {
    const [first] = lookAhead(input);
    expect(first).toMatchObject({ item: { kind: 'tick' } });
  }
  expect(descriptorsBelow(docs)).toEqual([]);
});
