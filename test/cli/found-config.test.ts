import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSite, run } from './binary.ts';

test('a configuration above is used and told, but to programs; init writes where it is called', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'a');
  site.write('docs/deep/b.md', 'b');
  const file = join(site.directory, 'botsync.config.json');
  renameSync(file, `${file}c`);
  const deep = join(site.directory, 'docs/deep');
  const synced = await run(deep, ['sync', '--once'], site.env);
  expect(synced).toMatchObject({ code: 0 });
  expect(synced.stderr).toContain('Configuration: ../../botsync.config.jsonc\n');
  const listed = await run(deep, ['ls', '--json'], site.env);
  expect(listed.stderr).toBe('');
  expect(listed.lines().map(({ path }) => path)).toEqual(['a.md', 'deep/b.md']);
  const forced = await run(deep, ['sync', '--once', '--force', 'docs/*.md'], site.env);
  expect(forced).toMatchObject({ code: 2, stdout: '' });
  expect(forced.stderr).toContain(
    'matches no file, so nothing was sent; patterns are relative to the source docs',
  );
  writeFileSync(file, '{}');
  const both = await run(deep, ['status'], site.env);
  expect(both).toMatchObject({ code: 2, stdout: '' });
  expect(both.stderr).toContain('has both botsync.config.json and botsync.config.jsonc');
  expect((await run(deep, ['status'], { ...site.env, BOTSYNC_CONFIG: `${file}c` })).code).not.toBe(2);
  mkdirSync(join(deep, 'more'));
  const written = await run(deep, ['init', '--bot', 'b', '--directory', 'more']);
  expect(written.stdout).toMatch(/^botsync\.config\.json was written/u);
});
