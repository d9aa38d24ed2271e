import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSite, start, type Site } from './binary.ts';

/** Kills a pass with SIGKILL as soon as the platform has seen so many requests. */
async function killAfter(site: Site, requests: number): Promise<void> {
  const seen = (): number => [...site.emulator.counts.values()].reduce((sum, count) => sum + count, 0);
  const limit = seen() + requests;
  const running = start(site.directory, ['sync', '--once', '--log-level', 'silent'], site.env);
  const over = new AbortController();
  void running.ended.then(() => {
    over.abort();
  });
  while (!over.signal.aborted && seen() < limit) await new Promise(setImmediate);
  running.child.kill('SIGKILL');
  await running.ended;
}

test('kill -9 in the middle, again and again: the next pass ends in sync and sends only what was not recorded', async () => {
  const site = await createSite({ upload: { concurrency: 4 } });
  for (let n = 0; n < 400; n++) site.write(`docs/${n % 7}/${n}`, `content ${n}`);
  for (const requests of [1, 2, 3, 40, 150, 300]) await killAfter(site, requests);
  const end = await site.sync();
  expect(end.code).toBe(0);
  const files = site.emulator.listFiles('bot-1');
  expect(files).toHaveLength(400);
  for (const { key } of files)
    expect(site.emulator.readContent('bot-1', key)?.toString()).toBe(`content ${key.split('/')[1] ?? ''}`);
  expect((await site.sync()).lines()).toMatchObject([{ kind: 'summary', unchanged: 400, uploaded: 0 }]);
});

test.each([
  ['after the upsert, which erased the content', 'upload'],
  ['before the upsert was answered', 'upsert'],
] as const)(
  'killed %s: the file is sent again even when it has its old content back',
  async (_when, operation) => {
    const site = await createSite();
    site.write('docs/a', 'old content');
    await site.sync();
    site.write('docs/a', 'new');
    site.emulator.faults.add({ operation, kind: 'hang' });
    const running = start(site.directory, ['sync', '--once'], site.env);
    await expect.poll(() => site.emulator.faults.pending().length).toBe(0);
    running.child.kill('SIGKILL');
    await running.ended;
    site.emulator.faults.clear();
    site.write('docs/a', 'old content');
    const next = await site.sync();
    expect(next.lines()).toMatchObject([
      { kind: 'upload', path: 'a', reason: 'interrupted', outcome: 'done' },
      {},
    ]);
    expect(site.emulator.readContent('bot-1', 'a')?.toString()).toBe('old content');
  },
);

test('a dry run and status after a kill see what was committed and write nothing', async () => {
  const site = await createSite({ upload: { concurrency: 2 } });
  for (let n = 0; n < 300; n++) site.write(`docs/${n}`, 'x');
  await killAfter(site, 250);
  rmSync(join(site.directory, 'docs/0'), { force: true });
  const directory = join(site.directory, '.botsync');
  const before = readdirSync(directory);
  const plan = await start(site.directory, ['sync', '--dry-run', '--json'], {}).ended;
  const summary = plan.lines().at(-1) as Record<string, number>;
  expect(summary['unchanged']).toBeGreaterThan(0);
  // What was killed has not looked at everything.
  expect(await start(site.directory, ['status'], {}).ended).toMatchObject({ code: 3 });
  expect(readdirSync(directory)).toEqual(before);
});
