import { expect, test } from 'vitest';
import { locateFile } from '../../../src/cli/arguments.ts';
import { findSources } from '../../../src/sync/sources/source.ts';
import { explained } from '../explained.ts';
import { createWorld } from '../world.ts';

test('a file of a source whose directory is not there is explained by what is on record', async () => {
  const world = await createWorld({
    sources: [{ directory: './docs', keyPrefix: 'kb/' }],
    rules: [{ match: '*.md', tags: { a: 'b' } }],
  });
  world.write('docs/sub/a.md', 'alpha');
  await world.pass();
  world.remove('docs');
  const config = world.config();
  const sources = findSources(config, config.platform.baseUrl);
  const { found, path } = locateFile(world.at('docs/sub/a.md'), sources);
  expect([found.kind, path]).toEqual(['missing', 'sub/a.md']);
  expect(explained(world, path)).toMatchObject({
    ...{ source: 'docs', path: 'sub/a.md', key: 'kb/sub/a.md', botId: 'bot-1' },
    rules: [{ rule: 0, match: ['*.md'] }],
    record: { state: 'synced', failure: null },
    ...{ upsert: null, action: 'none' },
    reason: expect.stringMatching(/^the source would be halted: .*\/docs does not exist/u) as string,
  });
  expect(explained(world, 'never-there.md').record).toBeNull();
  await world.pass();
  expect(explained(world, path).reason).toMatch(/^the source is halted: .*\/docs does not exist/u);
});
