import { expect, test } from 'vitest';
import { explained } from '../explained.ts';
import { createWorld } from '../world.ts';
import { NO_CHANGE_FEED } from '../../../src/sync/pass/sync-context.ts';

test('a file that comes back larger than it may be is left out, and no removal waits for it', async () => {
  const world = await createWorld({
    limits: { indexBytes: 10 },
    rules: [{ match: '*.md', index: true, whenTooLargeToIndex: 'skip' }],
  });
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}.md`, name);
  await world.pass();
  world.remove('docs/a.md');
  await world.pass();
  world.write('docs/a.md', 'more than ten bytes');
  world.configure({ removals: { mode: 'expire' } });
  for (let i = 0; i < 2; i++)
    expect(await world.pass()).toMatchObject({
      exitCode: 0,
      summary: { skipped: 1, pending: 0, removed: 0 },
    });
  expect(world.remote('a.md')).toBe('a');
});

test('a file that is small enough to be indexed when it is read is indexed, whatever it was when it was found', async () => {
  const world = await createWorld({
    limits: { indexBytes: 10 },
    rules: [{ match: '*.md', index: true, whenTooLargeToIndex: 'upload-without-index' }],
  });
  world.write('docs/a.md', 'more than ten bytes');
  const shrink = (): boolean => {
    world.write('docs/a.md', 'small');
    return false;
  };
  await world.pass({ changeFeed: { ...NO_CHANGE_FEED, ignores: shrink } });
  expect(world.emulator.listFiles('bot-1')).toMatchObject([{ key: 'a.md', size: 5, index: true }]);
  expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0 });
});

test('a file that is too large is explained with the limit that would let it pass', async () => {
  const world = await createWorld({ limits: { fileBytes: 3 } });
  world.write('docs/a.md', 'four');
  expect(explained(world, 'a.md')).toMatchObject({
    action: 'refuse',
    reason: '4 bytes are more than limits.fileBytes (3)',
    fix: 'raise limits.fileBytes to 4 or more, split the file, or ignore it',
  });
  world.configure({ limits: { fileBytes: 4 } });
  expect(explained(world, 'a.md')).toMatchObject({ action: 'upload', fix: null });
});
