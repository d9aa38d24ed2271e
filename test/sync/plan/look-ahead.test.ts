import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { lookAhead } from '../../../src/sync/plan/look-ahead.ts';
import { Claims } from '../../../src/sync/plan/claims.ts';
import { enterSource } from '../../../src/sync/sources/enter-source.ts';
import { findSources } from '../../../src/sync/sources/source.ts';
import { openReader } from '../../../src/state/open-reader.ts';
import { createWorld } from '../world.ts';

test('a source is entered step by step: a directory of very many files keeps nobody waiting', async () => {
  const world = await createWorld();
  for (let n = 0; n < 3000; n++) world.write(`docs/${n}`, '');
  const config = world.config();
  const sources = findSources(config, config.platform.baseUrl);
  const [found] = sources;
  const opened = openReader(config.stateFile, false);
  if (opened.kind !== 'open' || found?.kind !== 'found') throw new Error(opened.kind);
  const { reader, close } = opened;
  const entering = enterSource(found.source, 0, reader, 'keep', () => false);
  let turns = 0;
  let step = entering.next();
  for (; step.done !== true; step = entering.next()) turns += 1;
  expect(step.value.kind).toBe('open');
  expect(turns).toBeGreaterThanOrEqual(10);

  const claims = new Claims(reader, sources, false);
  const input = {
    config,
    sources,
    state: reader,
    claims,
    platformNow: Date.now,
    now: Date.now,
    isForced: () => false,
  };
  let before = 0;
  for (const ahead of lookAhead(input)) {
    if (ahead.kind !== 'item' || ahead.item.kind !== 'tick') break;
    before += 1;
  }
  expect(before).toBeGreaterThanOrEqual(turns);
  close();
});

test('whoever stops looking ahead leaves no directory open', async () => {
  const world = await createWorld();
  for (let n = 0; n < 3000; n++) world.write(`docs/${n}`, '');
  const config = world.config();
  const sources = findSources(config, config.platform.baseUrl);
  const opened = openReader(config.stateFile, false);
  if (opened.kind !== 'open') throw new Error(opened.kind);
  const { reader, close } = opened;
  const claims = new Claims(reader, sources, false);
  const descriptors = (): number => readdirSync('/proc/self/fd').length;
  const before = descriptors();
  for (let time = 0; time < 20; time++) {
    const [first] = lookAhead({
      config,
      sources,
      state: reader,
      claims,
      platformNow: Date.now,
      now: Date.now,
      isForced: () => false,
    });
    expect(first).toMatchObject({ item: { kind: 'tick' } });
  }
  expect(descriptors()).toBe(before);
  close();
});
