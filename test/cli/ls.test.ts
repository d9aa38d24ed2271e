import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { markOf } from '../../src/domain/mark.ts';
import { putAs } from '../sync/others.ts';
import { createSite, run, type Site } from './binary.ts';

const list = async (site: Site, ...args: string[]): Promise<string[]> => {
  const { code, stdout, lines } = await run(site.directory, ['ls', '--json', ...args], site.env);
  expect(code).toBe(0);
  return stdout === '' ? [] : lines().map(({ path, local, platform }) => [path, local, platform].join(' '));
};

test('files are listed with what is known of them, by what is asked for', async () => {
  const rules = [
    { match: 'i.md', index: true },
    { match: 'long.md', tags: { a: 'b' }, expiresAt: '2020-01-01T00:00:00Z' },
  ];
  const site = await createSite({ rules }, { indexingDelayMs: 600_000 }, 'auto');
  for (const name of ['a.md', 'sub/b.md', 'i.md', 'long.md', 'kept.md']) site.write(`docs/${name}`, name);
  await site.sync('--no-wait');
  rmSync(join(site.directory, 'docs/kept.md'));
  await site.sync('--no-wait');
  expect((await list(site)).map((one) => one.split(' ')[0])).toEqual([
    'a.md',
    'i.md',
    'kept.md',
    'long.md',
    'sub/b.md',
  ]);
  expect(await list(site, 'sub/**')).toHaveLength(1);
  for (const more of [[], ['--json']])
    expect(await run(site.directory, ['ls', 'nope', ...more], site.env)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'no file matches nope\n',
    });
  // The file is there, and is not among those that were asked for.
  const wanted = await run(site.directory, ['ls', 'a.md', '--failed'], site.env);
  expect(wanted).toMatchObject({ code: 0, stdout: '', stderr: '' });
  expect(await list(site, '--kept')).toEqual(['kept.md gone kept']);
  expect(await list(site, '--failed')).toEqual(['long.md there refused']);
  expect((await list(site, '--unindexed')).map((one) => one.split(' ')[0])).toEqual(['i.md']);
  expect(await list(site, '--to-remove')).toEqual([]);
  const mark = markOf(createHash('sha256').update('x').digest(), 'docs');
  await putAs(site, 'orphan.md', 'x', { metadata: { botsync: mark } });
  expect(await list(site, '--orphans')).toEqual(['orphan.md gone orphan']);
});

test('a file that the platform has, and that may not be sent since it changed, is not in sync', async () => {
  const site = await createSite({ limits: { fileBytes: 10 } }, {}, 'auto');
  for (const name of ['a.md', 'b.md', 'c.md']) site.write(`docs/${name}`, name);
  await site.sync();
  site.write('docs/b.md', 'much too large');
  site.write('docs/d.md', 'never sent, too large');
  await site.sync();
  const failed = await run(site.directory, ['ls', '--failed'], site.env);
  expect(failed.stdout).toMatch(
    /^stored +docs\/b\.md {2}\(4 B; 14 bytes are more than limits\.fileBytes \(10\)\)\nrefused +docs\/d\.md {2}\(21 B; 21 bytes are more than limits\.fileBytes \(10\)\)\n$/u,
  );
});

test('a directory is listed with what is below it, even if it was deleted', async () => {
  const sources = [{ directory: './docs' }, { directory: './news', keyPrefix: 'n/' }];
  const site = await createSite({ sources });
  for (const name of ['docs/a.md', 'docs/sub/b.md', 'docs/sub-2/c.md', 'docs/old/d.md', 'news/sub/e.md'])
    site.write(name, name);
  await site.sync();
  rmSync(join(site.directory, 'docs/old'), { recursive: true });
  await site.sync();
  symlinkSync(join(site.directory, 'docs/sub'), join(site.directory, 'link'));
  const paths = async (place: string, argument: string): Promise<unknown[]> => {
    const ended = await run(join(site.directory, place), ['ls', '--json', argument], site.env);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    return ended.lines().map(({ source, path }) => `${String(source)}/${String(path)}`);
  };
  expect(await paths('', 'docs/sub')).toEqual(['docs/sub/b.md']);
  expect(await paths('docs', './sub/')).toEqual(['docs/sub/b.md']);
  expect(await paths('news/sub', join(site.directory, 'docs/sub'))).toEqual(['docs/sub/b.md']);
  expect(await paths('', 'link')).toEqual(['docs/sub/b.md']);
  expect(await paths('', 'docs/old/')).toEqual(['docs/old/d.md']);
  expect(await paths('news', '.')).toEqual(['news/sub/e.md']);
  expect(await paths('', '.')).toHaveLength(5);
  // No directory here: a pattern, for every source.
  expect(await paths('', 'sub/*')).toEqual(['docs/sub/b.md', 'news/sub/e.md']);
  expect(await paths('', `{${'x'.repeat(300)},a}.md`)).toEqual(['docs/a.md']);
  mkdirSync(join(site.directory, 'other'));
  for (const [where, hint] of [
    ['other', '; if it is a pattern, write "**/other"'],
    ['/usr', ''],
  ] as const) {
    const ended = await run(site.directory, ['ls', where], site.env);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toBe(
      `${where} is not in any source${hint}; the sources are:\n  docs: ${site.directory}/docs\n  news: ${site.directory}/news\n`,
    );
  }
});

test('before the first pass there is no list, and the command that makes one is named', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'one');
  const config = ['-c', './botsync.config.json'];
  for (const more of [[], ['*.md'], ['--failed']])
    expect(await run(site.directory, ['ls', ...more, ...config], site.env)).toMatchObject({
      code: 3,
      stdout: '',
      stderr:
        'no pass has ended yet, so no file is on record; run: botsync sync --once -c ./botsync.config.json\n',
    });
  await site.sync();
  rmSync(join(site.directory, 'docs/a.md'));
  expect(await run(site.directory, ['ls', ...config], site.env)).toMatchObject({ code: 0, stderr: '' });
});

test('a halted removal can be looked at before it is approved', async () => {
  const site = await createSite({ removals: { mode: 'expire', maxCount: 1 } }, {}, 'auto');
  for (const name of ['a.md', 'b.md', 'c.md']) site.write(`docs/${name}`, name);
  await site.sync();
  for (const name of ['a.md', 'b.md']) rmSync(join(site.directory, 'docs', name));
  const planned = await run(site.directory, ['sync', '--dry-run', '--json'], site.env);
  expect(planned.code).toBe(5);
  expect(planned.lines().filter(({ kind }) => kind === 'remove')).toEqual(
    ['a.md', 'b.md'].map((path) => ({
      kind: 'remove',
      source: 'docs',
      path,
      key: path,
      reason: 'deleted; its removal is held back by a halt',
    })),
  );
  expect(planned.lines().at(-1)).toMatchObject({ removed: 0, kept: 0, toRemove: 2 });
  expect((await site.sync()).code).toBe(5);
  expect(await list(site, '--to-remove')).toEqual(['a.md gone to-remove', 'b.md gone to-remove']);
  const told = await run(site.directory, ['ls', '--to-remove'], site.env);
  expect(told.stdout).toContain('held back, because the source is halted');
  expect((await site.sync('--allow-removals')).code).toBe(0);
  expect(await list(site, '--to-remove')).toEqual([]);
});

test('so can that of a source whose files are all gone', async () => {
  const site = await createSite({ removals: { mode: 'expire' } }, {}, 'auto');
  for (const name of ['a.md', 'b.md']) site.write(`docs/${name}`, name);
  await site.sync();
  for (const name of ['a.md', 'b.md']) rmSync(join(site.directory, 'docs', name));
  expect((await site.sync()).code).toBe(5);
  expect(await list(site, '--to-remove')).toEqual(['a.md gone to-remove', 'b.md gone to-remove']);
});
