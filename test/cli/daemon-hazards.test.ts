import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, test } from 'vitest';
import { BINARY, createSite, run, type Site } from './binary.ts';
import { launch, launchAtOnce, POLL, remote, says, status } from './running-daemon.ts';

const SOON = { watch: { settle: '50ms' } };

/** Changes the platform block of a site's configuration. */
function setPlatform({ directory, write }: Site, fields: Record<string, unknown>): void {
  const file = join(directory, 'botsync.config.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as { platform: object };
  write('botsync.config.json', JSON.stringify({ ...config, platform: { ...config.platform, ...fields } }));
}

const filesInSync = async (site: Site): Promise<number | undefined> =>
  ((await status(site))['sources'] as { files: number }[])[0]?.files;

describe('a state file', () => {
  test('that is damaged while the daemon runs is set aside, and all is sent again', async () => {
    const site = await createSite(SOON);
    for (let i = 0; i < 20; i++) site.write(`docs/f${i}.md`, `file ${i}`);
    const daemon = await launch(site);
    const file = join(site.directory, '.botsync/state.db');
    const vandal = new DatabaseSync(file, { timeout: 5000 });
    // What others have in memory is outdated by this.
    vandal.exec('UPDATE pass SET number = number + 1; PRAGMA wal_checkpoint(TRUNCATE)');
    vandal.close();
    writeFileSync(file, readFileSync(file).fill(0x5a, 4096));
    for (let i = 0; i < 20; i++) site.write(`docs/f${i}.md`, `edited ${i}`);
    await expect.poll(() => says(daemon, 'THE STATE FILE IS DAMAGED'), POLL).toBe(true);
    await expect.poll(() => remote(site, 'f19.md'), POLL).toBe('edited 19');
    await expect
      .poll(async () => ((await status(site))['sources'] as { files: number }[])[0]?.files, POLL)
      .toBe(20);
  });

  test('that is deleted with its directory while the daemon runs is told of, and all is sent again', async () => {
    const site = await createSite(SOON);
    site.write('docs/a.md', 'one');
    const daemon = await launch(site);
    rmSync(join(site.directory, '.botsync'), { recursive: true });
    await expect.poll(() => says(daemon, 'THE STATE FILE IS MISSING'), POLL).toBe(true);
    site.write('docs/b.md', 'two');
    await expect.poll(() => remote(site, 'b.md'), POLL).toBe('two');
    await expect.poll(() => filesInSync(site), POLL).toBe(2);
    expect((await status(site))['daemon']).toMatchObject({ pid: daemon.child.pid, notReady: [] });
    // The lock is there again as well.
    expect((await site.sync()).code).toBe(6);
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  });
});

test('a lock that is removed while the daemon runs is taken again, so that it stays alone', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'one');
  const daemon = await launch(site);
  rmSync(join(site.directory, '.botsync/state.db.lock'));
  await expect.poll(() => says(daemon, 'WAS NOT LOCKED'), POLL).toBe(true);
  await expect.poll(() => existsSync(join(site.directory, '.botsync/state.db.lock')), POLL).toBe(true);
  site.write('docs/b.md', 'two');
  await expect.poll(() => remote(site, 'b.md'), POLL).toBe('two');
  expect((await site.sync()).code).toBe(6);
});

describe('SIGHUP', () => {
  test('right after the start ends nothing, and is made up for', async () => {
    const site = await createSite(SOON);
    const daemon = launchAtOnce(site);
    await expect
      .poll(() => existsSync(join(site.directory, '.botsync/state.db.lock')), { ...POLL, interval: 1 })
      .toBe(true);
    daemon.child.kill('SIGHUP');
    await expect.poll(() => says(daemon, 'was reloaded'), POLL).toBe(true);
    site.write('docs/a.md', 'one');
    await expect.poll(() => remote(site, 'a.md'), POLL).toBe('one');
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  });

  test('with a FIFO instead of the token, or of the configuration, leaves all as it was', async () => {
    const site = await createSite(SOON);
    const daemon = await launch(site);
    execFileSync('mkfifo', ['-m', '600', join(site.directory, 'token')]);
    setPlatform(site, { token: 'file:token' });
    daemon.child.kill('SIGHUP');
    await expect.poll(() => says(daemon, 'not reloaded'), POLL).toBe(true);
    expect(says(daemon, 'is not a regular file')).toBe(true);
    const refusals = (): number =>
      daemon.log().filter(({ msg }) => String(msg).includes('not reloaded')).length;
    const before = refusals();
    const file = join(site.directory, 'botsync.config.json');
    rmSync(file);
    execFileSync('mkfifo', [file]);
    daemon.child.kill('SIGHUP');
    await expect.poll(refusals, POLL).toBeGreaterThan(before);
    site.write('docs/a.md', 'one');
    await expect.poll(() => remote(site, 'a.md'), POLL).toBe('one');
  });

  test('with --emulator and another bot says that this needs a restart, and goes on', async () => {
    const site = await createSite(SOON);
    const daemon = await launch(site, ['--emulator', '--json']);
    let stdout = '';
    daemon.child.stdout?.on('data', (text: string) => (stdout += text));
    setPlatform(site, { botId: 'bot-2' });
    daemon.child.kill('SIGHUP');
    await expect.poll(() => says(daemon, 'needs a restart'), POLL).toBe(true);
    site.write('docs/a.md', 'one');
    await expect.poll(() => stdout, POLL).toMatch(/"path":"a\.md".*"outcome":"done"/u);
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  });
});

test('approve says of a missing directory that it cannot be approved, and ends with 3', async () => {
  const site = await createSite(SOON);
  site.write('docs/a.md', 'one');
  await launch(site);
  renameSync(join(site.directory, 'docs'), join(site.directory, 'away'));
  const approve = (...args: string[]) => run(site.directory, ['approve', ...args], site.env);
  await expect
    .poll(async () => (await approve()).stdout, POLL)
    .toContain('Not approved: docs. Its directory is missing');
  expect((await approve('docs')).code).toBe(3);
  const json = await approve('--json');
  expect({ code: json.code, lines: json.lines() }).toEqual({
    code: 3,
    lines: [{ approved: [], missing: ['docs'], changed: [] }],
  });
});

test('where few files may be open, a pass with many transfers says so, and is no defect', async () => {
  const site = await createSite({ upload: { concurrency: 64, attempts: 1, giveUpAfter: '1s' } });
  for (let i = 0; i < 200; i++) site.write(`docs/f${i}.md`, `file ${i}`);
  const script = 'ulimit -n 64; exec "$0" "$@"';
  const env = { ...process.env, ...site.env };
  const command = [process.execPath, BINARY, 'sync', '--once'];
  const outcome = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile('sh', ['-c', script, ...command], { cwd: site.directory, env }, (error, _stdout, stderr) => {
      resolve({ code: error?.code, stderr });
    });
  });
  expect([outcome.code, outcome.stderr.includes('defect')]).toEqual([3, false]);
  expect(outcome.stderr).toContain('EMFILE');
  expect((await site.sync()).code).toBe(0);
});
