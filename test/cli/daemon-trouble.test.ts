import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openState } from '../../src/store/open.ts';
import { createSite, run, type Ended, type Site } from './binary.ts';
import { launch, launchAtOnce, POLL, remote, says, status } from './running-daemon.ts';

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

test('a configuration that breaks beside a running service shows until it is mended', async () => {
  const site = await createSite({ service: { listen: '127.0.0.1:0' }, stateFile: 'var/s.db' });
  const daemon = await launch(site);
  const address = String(daemon.log().find(({ msg }) => msg === 'listening')?.['address']);
  const get = async (path: string): Promise<string> => await (await fetch(`http://${address}${path}`)).text();
  const sound = readFileSync(join(site.directory, 'botsync.config.json'), 'utf8');
  expect(await get('/metrics')).toContain('\nbotsync_config_last_reload_successful 1\n');
  site.write('botsync.config.json', sound.replace('[', '[,'));
  const problem = 'botsync\\.config\\.json:1:\\d+: a value is expected here';
  const told = `he configuration on disk cannot be loaded: ${problem}; the one of \\S+Z is in use`;
  await expect.poll(() => get('/readyz'), POLL).toMatch(new RegExp(`^not ready\nt${told}\n$`, 'u'));
  expect(await get('/metrics')).toContain('\nbotsync_config_last_reload_successful 0\n');
  expect(await get('/')).toContain('The configuration on disk cannot be loaded');
  const shown = await run(site.directory, ['status'], site.env);
  expect(shown).toMatchObject({ code: 2, stderr: '' });
  expect(shown.stdout).toMatch(
    new RegExp(
      `^Service running with an older configuration\\. Everything is in sync with that one\nT${told}\n`,
      'u',
    ),
  );
  expect(await status(site)).toMatchObject({
    inSync: false,
    daemon: { configuration: { problem: expect.stringMatching(problem) as string } },
  });
  site.write('botsync.config.json', sound);
  await expect.poll(() => get('/readyz'), POLL).toBe('ready\n');
  expect(await get('/metrics')).toContain('\nbotsync_config_last_reload_successful 1\n');
  // What no service runs with is only wrong.
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  site.write('botsync.config.json', sound.replace('[', '[,'));
  expect(await run(site.directory, ['status'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(problem) as string,
  });
});

test('after a service was killed nothing says "in sync" that may have changed since', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'one');
  const killed = await launch(site);
  expect((await run(site.directory, ['status'])).stdout).toMatch(/^Service running\. In sync\n/u);
  killed.child.kill('SIGKILL');
  await killed.ended;
  site.write('docs/a.md', 'two');
  const told = await run(site.directory, ['status']);
  expect(told.code).toBe(3);
  expect(told.stdout).toMatch(
    /^NO SERVICE RUNNING, last seen alive \d+ s ago \(\S+Z\); this is as of then:\nEverything was in sync\n/u,
  );
  for (const command of ['ls', 'history']) {
    const { code, stderr } = await run(site.directory, [command]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^NO SERVICE RUNNING, last seen alive \d+ s ago \(\S+Z\); this is as of then\n$/u);
  }
});

test('nor does it after a service was stopped, though a single pass stood in for it', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'one');
  await site.sync();
  expect((await run(site.directory, ['status'])).stdout).toMatch(
    /^In sync, as of the last pass, \d+ s ago\n/u,
  );
  expect(await status(site)).toMatchObject({ inSync: true, service: { kind: 'none' } });
  const stopped = await launch(site);
  expect(await status(site)).toMatchObject({ inSync: true, service: { kind: 'running' } });
  stopped.child.kill('SIGTERM');
  await stopped.ended;
  expect((await site.sync()).code).toBe(0);
  expect(await status(site)).toMatchObject({ inSync: false, daemon: null, service: { kind: 'stopped' } });
});

test('a service that was given up for single passes is forgotten after a week', async () => {
  const site = await createSite();
  const stateFile = join(site.directory, '.botsync/state.db');
  await site.sync();
  const endedDaysAgo = async (days: number): Promise<Record<string, unknown>> => {
    const opened = openState(stateFile, { checkThoroughly: false, nowMs: Date.now() });
    if (opened.kind !== 'open') throw new Error(opened.kind);
    opened.store.noteServiceAlive(Date.now() - days * 86_400_000);
    opened.store.close();
    await site.sync();
    return await status(site);
  };
  expect(await endedDaysAgo(6)).toMatchObject({ inSync: false, service: { kind: 'stopped' } });
  expect(await endedDaysAgo(8)).toMatchObject({ inSync: true, service: { kind: 'none' } });
});
