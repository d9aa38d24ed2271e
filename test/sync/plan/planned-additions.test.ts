import { expect, test } from 'vitest';
import type { Additions } from '../../../src/domain/usage.ts';
import { Claims } from '../../../src/sync/plan/claims.ts';
import { estimate } from '../../../src/sync/plan/estimate.ts';
import { findSources } from '../../../src/sync/sources/source.ts';
import { createWorld, type World } from '../world.ts';

type Worlds = Awaited<ReturnType<typeof createWorld>>;

/** What a dry run says that a pass would add, and the count ahead of one as well. */
async function additionsOf(world: Worlds): Promise<{ planned: Additions; counted: Additions | null }> {
  const { additions } = await world.plan();
  const config = world.config();
  const state = world.open();
  const sources = findSources(config, config.platform.baseUrl);
  const { now } = world.clock;
  const input = {
    ...{ config, sources, state, claims: new Claims(state, sources) },
    ...{ platformNow: now, now, isForced: () => false },
  };
  const ahead = await estimate(input, world.clock, new AbortController().signal);
  state.close();
  return { planned: additions, counted: ahead?.additions ?? null };
}

function index(world: World, match: string): void {
  world.configure({ rules: [{ match: [match], index: true }] });
}

test('a plan says what its files add to those that are there', async () => {
  const world = await createWorld();
  index(world, '*.md');
  world.write('docs/a.md', 'alpha');
  world.write('docs/b.txt', 'be');
  const first = { storage: 7, vectorStorage: 5, indexedFiles: 1, largestFile: 5 };
  expect(await additionsOf(world)).toEqual({ planned: first, counted: first });
  await world.pass();
  const none = { storage: 0, vectorStorage: 0, indexedFiles: 0, largestFile: 0 };
  expect(await additionsOf(world)).toEqual({ planned: none, counted: none });
  world.write('docs/a.md', 'alphabet');
  const grown = { storage: 3, vectorStorage: 3, indexedFiles: 0, largestFile: 8 };
  expect(await additionsOf(world)).toEqual({ planned: grown, counted: grown });
  await world.pass();
  // Now the other one is to be indexed, and this one is not.
  index(world, '*.txt');
  const turned = { storage: 0, vectorStorage: -6, indexedFiles: 0, largestFile: 8 };
  expect(await additionsOf(world)).toEqual({ planned: turned, counted: turned });
});

test('what could not be sent is not there yet', async () => {
  const world = await createWorld();
  world.write('docs/a.md', 'alpha');
  world.fail('upsert', 500, { times: Infinity });
  await world.pass();
  expect((await additionsOf(world)).planned).toMatchObject({ storage: 5 });
});
