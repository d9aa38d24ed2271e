import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSite, run, type Ended, type Site } from './binary.ts';
import { launch, launchAtOnce, POLL, remote, says } from './running-daemon.ts';

const reload = (site: Site, ...args: string[]): Promise<Ended> =>
  run(site.directory, ['reload', ...args], site.env);

test('an outage shows in readiness and metrics while it lasts', async () => {
  const site = await createSite({ service: { listen: '127.0.0.1:0' } });
  const daemon = await launch(site);
  const address = String(daemon.log().find(({ msg }) => msg === 'listening')?.['address']);
  const get = async (path: string): Promise<string> => await (await fetch(`http://${address}${path}`)).text();
  expect(await get('/metrics')).toContain('botsync_pauses_total{reason="outage"} 0');
  site.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 503, times: Infinity });
  site.write('docs/a.md', 'one');
  await expect.poll(() => get('/readyz'), POLL).toMatch(/^not ready\nthe platform is unreachable: 503/u);
  await expect.poll(() => get('/metrics'), POLL).toMatch(/botsync_pauses_total\{reason="outage"\} [1-9]/u);
  await expect
    .poll(() => get('/metrics'), POLL)
    .toMatch(/botsync_pause_seconds_total\{reason="outage"\} [1-9]/u);
  site.emulator.faults.clear();
  await expect.poll(() => get('/readyz'), POLL).toBe('ready\n');
});

test('a refused token from the environment takes a restart, and the log says so', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'one');
  const daemon = launchAtOnce(site, [], { BOTSYNC_TOKEN: 'of-somebody-else' });
  await expect.poll(() => says(daemon, 'the platform refuses the credentials'), POLL).toBe(true);
  expect(
    says(
      daemon,
      'environment variable BOTSYNC_TOKEN, which a running process cannot reread: to change the token, restart botsync',
    ),
  ).toBe(true);
  expect((await reload(site)).stdout).toContain('another token needs a restart');
});

test('with reloadOnChange off, botsync reload takes up another token, and says why it cannot', async () => {
  const site = await createSite();
  site.write('token', 'of-somebody-else');
  const platform = {
    botId: 'bot-1',
    baseUrl: site.emulator.baseUrl,
    token: 'file:token',
    operations: 'specified',
  };
  site.write(
    'botsync.config.json',
    JSON.stringify({ platform, sources: [{ directory: './docs' }], service: { reloadOnChange: false } }),
  );
  const absent = await reload(site, '--json');
  expect(absent.code).toBe(3);
  expect(JSON.parse(absent.stderr)).toEqual({
    kind: 'error',
    exitCode: 3,
    message: 'no botsync is running on this state file; start one: botsync sync',
  });
  site.write('docs/a.md', 'one');
  const daemon = launchAtOnce(site);
  await expect.poll(() => says(daemon, 'after changing it run: botsync reload'), POLL).toBe(true);
  rmSync(join(site.directory, 'token'));
  const failed = await reload(site);
  expect(failed.code).toBe(3);
  expect(failed.stderr).toMatch(/^not reloaded, the previous configuration stays in use: .*platform\.token/u);
  site.write('token', site.emulator.token);
  expect(await reload(site, '--json')).toMatchObject({ code: 0, stdout: '{"reloaded":true}\n' });
  await expect.poll(() => remote(site, 'a.md'), POLL).toBe('one');
});

test('with --json an error is one JSON object on standard error', async () => {
  const site = await createSite({ rules: [{ mtach: '*' }] });
  const { code, stdout, stderr } = await run(site.directory, ['status', '--json'], site.env);
  expect([code, stdout]).toEqual([2, '']);
  const error: unknown = JSON.parse(stderr);
  expect(error).toMatchObject({
    kind: 'error',
    exitCode: 2,
    problems: expect.arrayContaining([expect.objectContaining({ field: 'rules[0].mtach' })]) as unknown,
  });
  const usage = await run(site.directory, ['nosuch', '--json']);
  expect(JSON.parse(usage.stderr)).toMatchObject({ kind: 'error', exitCode: 2 });
});

test('a request that reaches nobody names address and field, and what to try', async () => {
  const baseUrl = 'http://127.0.0.1:9';
  const site = await createSite({
    platform: { baseUrl, workspaceId: 'w', botId: 'b', token: 'env:BOTSYNC_TOKEN' },
    upload: { attempts: 1, giveUpAfter: '1s' },
  });
  const { code, stderr } = await run(site.directory, ['bots', '--log-level', 'silent'], site.env);
  expect(code).toBe(3);
  expect(stderr).toBe(
    `the bots could not be listed: cannot reach ${baseUrl} (platform.baseUrl): connection refused (ECONNREFUSED)\nIs it running? Try: botsync doctor\n`,
  );
});
