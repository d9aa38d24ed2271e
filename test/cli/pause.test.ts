import { expect, test } from 'vitest';
import { createSite, run } from './binary.ts';
import { launch, POLL, remote, says, status } from './running-daemon.ts';

test('a paused service holds changes back, also after a restart, until it is resumed', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'one');
  const first = await launch(site);
  const paused = await run(site.directory, ['pause', '--for', '2h'], site.env);
  expect(paused).toMatchObject({ code: 0, stderr: '' });
  expect(paused.stdout).toMatch(
    /^Paused until [\d: -]+: changes are collected and sent then, or after: botsync resume/u,
  );
  site.write('docs/a.md', 'two');
  const pending = async (): Promise<unknown> =>
    ((await status(site)) as { sources: { pending: number }[] }).sources[0]?.pending;
  await expect.poll(pending, POLL).toBe(1);
  first.child.kill('SIGTERM');
  expect((await first.ended).code).toBe(0);
  const stopped = await run(site.directory, ['status'], site.env);
  expect(stopped.code).toBe(3);
  expect(stopped.stdout).toMatch(
    /\nNOT IN SYNC\nPaused until [\d: -]+ by a command; 1 change waits\. Resume with/u,
  );
  const second = await launch(site);
  expect(says(second, 'paused until')).toBe(true);
  expect(await status(site)).toMatchObject({ inSync: false, pause: { until: expect.any(String) as string } });
  expect(remote(site, 'a.md')).toBe('one');
  const resumed = await run(site.directory, ['resume', '--json'], site.env);
  expect(resumed.lines()).toEqual([{ resumed: true }]);
  await expect.poll(() => remote(site, 'a.md'), POLL).toBe('two');
  await expect.poll(async () => (await status(site))['inSync'], POLL).toBe(true);
  expect(await status(site)).toMatchObject({ pause: null, daemon: { pause: null, activity: 'watching' } });
  second.child.kill('SIGTERM');
  expect((await second.ended).code).toBe(0);
});

test('a single pass sends in spite of a pause, and warns', async () => {
  const site = await createSite();
  const daemon = await launch(site);
  const { stderr, lines } = await run(site.directory, ['pause', '--json'], site.env);
  expect({ stderr, lines: lines() }).toMatchObject({
    stderr: '',
    lines: [{ pause: { until: null, expires: null } }],
  });
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  site.write('docs/a.md', 'one');
  const once = await run(site.directory, ['sync', '--once'], site.env);
  expect(once.code).toBe(0);
  expect(once.stderr).toContain('the service is paused by a command; this pass sends all the same');
  expect(remote(site, 'a.md')).toBe('one');
});

test.each([
  [['pause'], 'there is nothing to pause'],
  [['resume'], 'start one, and run this again: botsync sync'],
])('%s without a service says so, and exits with 3', async (args, advice) => {
  const site = await createSite();
  expect(await run(site.directory, args, site.env)).toMatchObject({
    code: 3,
    stderr: `no botsync is running on this state file; ${advice}\n`,
  });
});

test.each([
  ['2', '--for: "2" is not a duration; add a unit, such as "2s" or "2m" (ms s m h d w)'],
  ['400d', '--for: "400d" is too long; write at most "365d"'],
])('pause --for %s is refused', async (time, message) => {
  const site = await createSite();
  const { code, stderr } = await run(site.directory, ['pause', '--for', time], site.env);
  expect({ code, message: stderr.split('\n')[0] }).toEqual({ code: 2, message });
});
