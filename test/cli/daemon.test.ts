import { chmodSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createSite, run } from './binary.ts';
import { launch, POLL, remote, says, status } from './running-daemon.ts';

describe('botsync sync', () => {
  test('syncs what is there, what changes, and ends with 0 when it is asked to', async () => {
    const site = await createSite();
    site.write('docs/a.md', 'one');
    const daemon = await launch(site);
    expect(remote(site, 'a.md')).toBe('one');
    site.write('docs/a.md', 'two');
    await expect.poll(() => remote(site, 'a.md'), POLL).toBe('two');
    daemon.child.kill('SIGTERM');
    const { code, stdout } = await daemon.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(says(daemon, 'stopped')).toBe(true);
    expect(existsSync(join(site.directory, '.botsync/state.db.socket'))).toBe(false);
    expect(existsSync(join(site.directory, '.botsync/state.db.lock.json'))).toBe(false);
  });

  test('prints JSON Lines with --json: a line a file, a summary a pass', async () => {
    const site = await createSite();
    site.write('docs/a.md', 'one');
    const daemon = await launch(site, ['--json']);
    site.write('docs/b.md', 'two');
    await expect.poll(() => remote(site, 'b.md'), POLL).toBe('two');
    daemon.child.kill('SIGINT');
    const { code, lines } = await daemon.ended;
    expect(code).toBe(0);
    expect(lines()).toMatchObject([
      { kind: 'upload', path: 'a.md', outcome: 'done' },
      { kind: 'summary', uploaded: 1 },
      { kind: 'upload', path: 'b.md', outcome: 'done' },
    ]);
  });

  test('lets what is in flight end, and a second signal ends it at once with 130', async () => {
    const site = await createSite();
    const daemon = await launch(site);
    site.emulator.faults.add({ operation: 'upload', kind: 'delay', delayMs: 700, times: 1 });
    site.write('docs/a.md', 'one');
    await expect.poll(() => site.emulator.faults.pending().length, POLL).toBe(0);
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    expect(remote(site, 'a.md')).toBe('one');

    const other = await launch(site);
    site.emulator.faults.add({ operation: 'upload', kind: 'hang', times: 1 });
    site.write('docs/b.md', 'two');
    await expect.poll(() => site.emulator.faults.pending().length, POLL).toBe(0);
    other.child.kill('SIGTERM');
    await expect.poll(() => says(other, 'stopping'), POLL).toBe(true);
    other.child.kill('SIGTERM');
    expect((await other.ended).code).toBe(130);
    site.emulator.faults.clear();
    const next = await site.sync();
    expect(next.lines()).toMatchObject([{ path: 'b.md', reason: 'interrupted', outcome: 'done' }, {}]);
  });

  test('is alone on its state file, and says who holds it', async () => {
    const site = await createSite();
    const daemon = await launch(site);
    const second = await run(site.directory, ['sync'], site.env);
    expect(second.code).toBe(6);
    expect(second.stderr).toContain(`process ${daemon.child.pid ?? 0}`);
    expect((await site.sync()).code).toBe(6);
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    // A dead one is no obstacle, nor is the socket it left.
    const third = await launch(site);
    expect(((await status(site))['daemon'] as { pid: number }).pid).toBe(third.child.pid);
  });
});

describe('SIGHUP', () => {
  test('takes up a valid configuration; a broken one leaves all as it was and says what is wrong', async () => {
    const site = await createSite();
    site.write('docs/a.md', 'one');
    const daemon = await launch(site);
    const file = join(site.directory, 'botsync.config.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...config, rules: [{ match: '**', tags: { kind: 'page' } }] }));
    daemon.child.kill('SIGHUP');
    await expect.poll(() => site.emulator.listFiles('bot-1')[0]?.tags, POLL).toEqual({ kind: 'page' });
    await expect.poll(() => says(daemon, 'was reloaded'), POLL).toBe(true);
    writeFileSync(file, '{ "sorces": [] }');
    daemon.child.kill('SIGHUP');
    await expect.poll(() => says(daemon, 'not reloaded'), POLL).toBe(true);
    expect(daemon.log().find(({ level }) => level === 50)?.['msg']).toContain('did you mean "sources"');
    site.write('docs/b.md', 'two');
    await expect.poll(() => remote(site, 'b.md'), POLL).toBe('two');
  });

  test('reads the token again', async () => {
    const site = await createSite();
    site.write('token', 'wrong');
    chmodSync(join(site.directory, 'token'), 0o600);
    const file = join(site.directory, 'botsync.config.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as { platform: object };
    const platform = { ...config.platform, token: 'file:token' };
    writeFileSync(file, JSON.stringify({ ...config, platform }));
    site.write('docs/a.md', 'one');
    const daemon = await launch(site);
    expect(remote(site, 'a.md')).toBeNull();
    expect((await status(site))['daemon']).toMatchObject({
      notReady: [expect.stringContaining('refuses the credentials')],
    });
    site.write('token', site.emulator.token);
    daemon.child.kill('SIGHUP');
    await expect.poll(() => remote(site, 'a.md'), POLL).toBe('one');
    daemon.child.kill('SIGTERM');
    const { stderr, stdout } = await daemon.ended;
    expect(stderr + stdout).not.toContain(site.emulator.token);
  });
});

describe('what is seen from outside', () => {
  test('status asks the daemon, and says so', async () => {
    const site = await createSite();
    site.write('docs/a.md', 'one');
    const daemon = await launch(site);
    expect((await status(site))['daemon']).toMatchObject({
      pid: daemon.child.pid,
      command: 'sync',
      activity: 'watching',
      watchedDirectories: 1,
      notReady: [],
    });
    const { stdout } = await run(site.directory, ['status'], site.env);
    expect(stdout).toContain('watching for changes; 1 directory watched');
    // By a socket that is for the owner alone.
    expect(statSync(join(site.directory, '.botsync/state.db.socket')).mode & 0o777).toBe(0o600);
    // One that is stopped in its tracks is not waited for.
    daemon.child.kill('SIGSTOP');
    expect(await status(site)).toMatchObject({
      inSync: false,
      service: { kind: 'silent', reason: 'the running botsync did not answer in time' },
      daemon: { pid: daemon.child.pid },
    });
    daemon.child.kill('SIGCONT');
  });

  test('approve lets a halted source go on', async () => {
    const site = await createSite();
    site.write('docs/a.md', 'one');
    site.write('docs/b.md', 'two');
    const daemon = await launch(site);
    expect((await run(site.directory, ['approve'], site.env)).stdout).toContain('No source is halted');
    rmSync(join(site.directory, 'docs'), { recursive: true });
    site.write('docs/c.md', 'three');
    await expect
      .poll(async () => (await run(site.directory, ['status'], site.env)).stdout, POLL)
      .toContain('HALTED');
    const wrong = await run(site.directory, ['approve', 'dcs'], site.env);
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the config has: docs') as string,
    });
    const asked = await run(site.directory, ['approve', 'docs'], site.env);
    expect(asked).toMatchObject({ code: 2, stdout: '' });
    expect(asked.stderr).toMatch(
      /^docs is halted: .*\nIf you approve.*\n {2}a\.md\n {2}b\.md\n.*add --yes\n$/u,
    );
    expect((await run(site.directory, ['approve', 'docs', '--yes', '--json'], site.env)).lines()).toEqual([
      { approved: ['docs'], missing: [], changed: [] },
    ]);
    await expect.poll(() => remote(site, 'c.md'), POLL).toBe('three');
    site.write('docs/d.md', 'four');
    await expect.poll(() => remote(site, 'd.md'), POLL).toBe('four');
    rmSync(join(site.directory, 'docs'), { recursive: true });
    site.write('docs/e.md', 'five');
    const config = ['-c', './botsync.config.json'];
    await expect
      .poll(async () => (await run(site.directory, ['approve', '--yes', ...config], site.env)).stdout, POLL)
      .toMatch(/^Approved.* Watch it with: botsync status -c \.\/botsync\.config\.json\n$/u);
    expect(says(daemon, 'defect')).toBe(false);
  });

  test('health, readiness, metrics and status over HTTP, when the config says where', async () => {
    const site = await createSite({ service: { listen: '127.0.0.1:0' } });
    site.write('docs/a.md', 'one');
    const daemon = await launch(site);
    const address = String(daemon.log().find(({ msg }) => msg === 'listening')?.['address']);
    const get = async (path: string): Promise<{ status: number; body: string }> => {
      const response = await fetch(`http://${address}${path}`);
      return { status: response.status, body: await response.text() };
    };
    expect(await get('/healthz')).toMatchObject({ status: 200 });
    expect(await get('/readyz')).toMatchObject({ status: 200 });
    const { body } = await get('/metrics');
    expect(body).toContain('botsync_files{source="docs",state="in-sync"} 1');
    expect(body).toContain('botsync_uploads_total{source="docs",result="done"} 1');
    expect(body).toContain('botsync_watched_directories{source="docs"} 1');
    expect(body).toMatch(/botsync_requests_total\{operation="upsert",outcome="ok"\} 1/u);
    expect(JSON.parse((await get('/status')).body)).toMatchObject({ daemon: { pid: daemon.child.pid } });
    renameSync(join(site.directory, 'docs'), join(site.directory, 'away'));
    await expect.poll(async () => (await get('/readyz')).status, POLL).toBe(503);
    expect((await get('/readyz')).body).toContain('docs is halted');
    await expect
      .poll(() => daemon.log().find(({ path }) => path === '.'), POLL)
      .toMatchObject({ level: 50, kind: 'problem' });
    expect((await fetch(`http://${address}/approve`, { method: 'POST' })).status).toBe(404);
  });

  test('the service manager is told of start, reload, stop and life', async () => {
    const site = await createSite();
    site.write('bin/systemd-notify', '#!/bin/sh\necho "$@" >> "$(dirname "$0")/told"\n');
    chmodSync(join(site.directory, 'bin/systemd-notify'), 0o755);
    const told = (): string => readFileSync(join(site.directory, 'bin/told'), 'utf8');
    const daemon = await launch(site, [], {
      PATH: `${join(site.directory, 'bin')}:${process.env['PATH'] ?? ''}`,
      NOTIFY_SOCKET: join(site.directory, 'nobody'),
      WATCHDOG_USEC: '1000000',
    });
    await expect.poll(told, POLL).toMatch(/READY=1/u);
    await expect.poll(told, POLL).toMatch(/WATCHDOG=1/u);
    daemon.child.kill('SIGHUP');
    await expect.poll(told, POLL).toMatch(/RELOADING=1[^]*READY=1/u);
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    expect(told()).toMatch(/STOPPING=1/u);
  });
});
