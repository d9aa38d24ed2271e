import { expect, test } from 'vitest';
import { explained } from '../explained.ts';
import { createWorld, type World } from '../world.ts';

/** A world with files that were sent. */
async function sentWorld(removals: object, operations: string, names: readonly string[]) {
  const world = await createWorld({ removals, platform: { operations } });
  for (const name of names) world.write(`docs/${name}`, name);
  await world.pass();
  return world;
}

function remove(world: World, ...names: readonly string[]): void {
  for (const name of names) world.remove(`docs/${name}`);
}

const WHEN = 'a single pass does it at once, the service 5m after it noticed the deletion';

test.each([
  ['expire', 'auto', 'is emptied there and expires: removals.mode is "expire"'],
  ['delete', 'auto', 'is deleted there if it is still the one that was sent: removals.mode is "delete"'],
  [
    'delete',
    'specified',
    'is emptied there and expires: removals.mode is "delete", but platform.operations is "specified"',
  ],
])(
  'with %s (operations %s) explain says how a removed file goes, and when',
  async (mode, operations, how) => {
    const world = await sentWorld({ mode, delay: '5m' }, operations, ['a', 'b']);
    remove(world, 'a');
    expect(explained(world, 'a')).toMatchObject({
      action: 'remove',
      reason: `the file was deleted, and ${how}; ${WHEN}`,
    });
  },
);

test('explain says that a file is let expire while deleting is not served', async () => {
  const world = await sentWorld({ mode: 'delete' }, 'auto', ['a', 'b', 'c']);
  world.fail('delete-file', 405, { times: Infinity });
  remove(world, 'a');
  await world.pass();
  remove(world, 'b');
  expect(explained(world, 'b', 'docs', world.clock.now())).toMatchObject({
    action: 'remove',
    reason: expect.stringContaining(
      'and expires: removals.mode is "delete", but the platform did not serve that',
    ) as unknown,
  });
});

test.each(['expire', 'delete'])(
  'with %s explain says that a source is halted for too many removals, as a pass would',
  async (mode) => {
    const world = await sentWorld({ mode, maxCount: 1 }, 'auto', ['a', 'b', 'c', 'd']);
    remove(world, 'a', 'b');
    // As far as it is known, each goes alone.
    expect(explained(world, 'a')).toMatchObject({ action: 'remove' });
    expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { removed: 0 } });
    const halted = {
      action: 'keep',
      reason:
        'the file was deleted, but the source is halted: 2 of 4 files would be removed within an hour, more than removals.maxCount (1); run: botsync approve docs, or without the service botsync sync --once --allow-removals',
    };
    expect(explained(world, 'a')).toEqual({ ...explained(world, 'a'), ...halted });
    expect(explained(world, 'b')).toMatchObject(halted);
    // One that was not noticed yet comes on top.
    remove(world, 'c');
    expect(explained(world, 'c')).toMatchObject({
      action: 'keep',
      reason: expect.stringContaining('3 of 4 files would be removed') as unknown,
    });
    await world.pass({ allowRemovals: true });
    expect(world.keys().filter((key) => world.remote(key) !== '')).toEqual(['d']);
  },
);

test('explain says that removals made within the hour count', async () => {
  const world = await sentWorld({ mode: 'delete', maxCount: 1 }, 'auto', ['a', 'b', 'c']);
  remove(world, 'a');
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
  remove(world, 'b');
  expect(explained(world, 'b')).toMatchObject({
    action: 'keep',
    reason: expect.stringContaining(
      'but the next pass will halt the source, the service 1m after it noticed the deletion at the latest: 1 of 3 files were removed within an hour, and 1 more would be',
    ) as unknown,
  });
});

test('explain says that a source would be halted which has no files, although, and that it is', async () => {
  const world = await sentWorld({ mode: 'delete' }, 'auto', ['a', 'b']);
  remove(world, 'a', 'b');
  expect(explained(world, 'a')).toMatchObject({
    action: 'none',
    reason: expect.stringMatching(/^the source would be halted: .* has no files, although/u) as unknown,
  });
  expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { removed: 0 } });
  expect(explained(world, 'a').reason).toMatch(/^the source is halted: .* has no files, although/u);
});
