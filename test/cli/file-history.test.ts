import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSite, run, type Ended, type Site } from './binary.ts';
import { launch } from './running-daemon.ts';

const history = (site: Site, ...args: string[]): Promise<Ended> =>
  run(site.directory, ['history', ...args], { ...site.env, TZ: 'UTC' });

test('the history of a file says when it was sent, changed, confirmed and removed, and why', async () => {
  const fields = {
    removals: { mode: 'delete', delay: '10m' },
    limits: { fileBytes: 100 },
    rules: [{ match: 'a.md', index: true, expiresIn: '30d' }],
  };
  const site = await createSite(fields, {}, 'auto');
  for (const name of ['a.md', 'sub/b.md', 'c.md']) site.write(`docs/${name}`, name);
  site.write('docs/large.md', 'x'.repeat(101));
  symlinkSync('a.md', join(site.directory, 'docs/link.md'));
  await site.sync();
  site.write('docs/a.md', 'more');
  await site.sync();
  const told = await history(site, 'docs/a.md');
  expect(told).toMatchObject({ code: 0, stderr: '' });
  const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`;
  expect(told.stdout).toMatch(
    new RegExp(
      [
        '^File:       docs/a\\.md',
        'Key:        a\\.md \\(bot bot-1\\)',
        'State:      searchable',
        `Sent:       ${time}`,
        `Confirmed:  ${time}`,
        `Expires:    ${time}; renewed from ${time}`,
        '',
        `${time}  uploaded \\(new\\)`,
        `${time}  searchable \\(the platform reports: indexing_completed\\)`,
        `${time}  uploaded \\(changed\\)`,
        `${time}  searchable \\(the platform reports: indexing_completed\\)\n$`,
      ].join('\n'),
      'u',
    ),
  );
  expect((await history(site, 'docs/large.md')).stdout).toMatch(
    /State: {6}not on record\n\n.* {2}refused: 101 bytes are more than limits\.fileBytes \(100\)\n$/u,
  );
  // A pass names what it skips each time.
  for (const name of ['link.md', 'none.md'])
    expect(await history(site, `docs/${name}`)).toMatchObject({
      code: 0,
      stdout: `Nothing is on record of docs/${name}.\n`,
    });

  const daemon = await launch(site);
  rmSync(join(site.directory, 'docs/c.md'));
  const last = async (): Promise<Record<string, unknown> | undefined> =>
    (await history(site, '--json', 'docs/c.md')).lines().at(-1);
  await expect.poll(last).toMatchObject({ kind: 'file', local: 'gone', platform: 'to-remove' });
  const { missingSince, removeAt } = (await last()) as { missingSince: string; removeAt: string };
  expect(Date.parse(removeAt) - Date.parse(missingSince)).toBe(600_000);
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  await site.sync();
  const removed = await history(site, '--json', 'docs/c.md');
  expect(removed.lines().map(({ kind, outcome, reason }) => [kind, outcome, reason])).toEqual([
    ['upload', 'done', 'new'],
    ['confirm', 'stored', 'upload_completed'],
    ['remove', 'done', 'removed'],
  ]);
});

test('a failed upload is in the history with its error, and one that is asked about must be a file of a source', async () => {
  const site = await createSite();
  site.write('docs/sub/a.md', 'a');
  site.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 413, times: 1 });
  await site.sync();
  expect((await history(site, 'docs/sub/a.md')).stdout).toMatch(/could not upload: .*413/u);
  expect((await history(site, 'docs/sub/a.md', '--since', '1ms')).stdout).toMatch(
    /\n\nIn the last 1ms nothing was noted of it\.\n$/u,
  );
  for (const [place, message] of [
    ['docs/sub', 'docs/sub is a directory; name a file, or list those below it: botsync ls docs/sub\n'],
    ['other.md', 'other.md is not in any source; the sources are:\n'],
  ] as const)
    expect(await history(site, place)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message) as string,
    });
});
