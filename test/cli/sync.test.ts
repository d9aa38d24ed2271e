import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { acquireLock } from '../../src/service/process-lock.ts';
import { createSite, run, temporaryDirectory, type Ended } from './binary.ts';

test('sync --once --json prints a line a file and a summary last; standard error has the log', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'alpha');
  // A transfer that took less than 0.1 s is told of without how long it took.
  await site.emulator.conditions.set({ kind: 'slow-store', bytesPerSecond: 10 });
  const first = await site.sync();
  expect(first.code).toBe(0);
  expect(first.lines()).toEqual([
    { kind: 'upload', source: 'docs', path: 'a.md', key: 'a.md', reason: 'new', outcome: 'done' },
    {
      ...{
        kind: 'summary',
        uploaded: 1,
        renewed: 0,
        updated: 0,
        adopted: 0,
        removed: 0,
        unchanged: 0,
        skipped: 0,
        refused: 0,
        failed: 0,
      },
      ...{
        problems: 0,
        kept: 0,
        toRemove: 0,
        pending: 0,
        overwritten: 0,
        unconfirmed: 0,
        bytes: 5,
        durationMs: expect.any(Number) as number,
      },
    },
  ]);
  expect(first.stderr).toMatch(/^uploaded docs\/a\.md \(5 B in \d\.\d s; new\)\n$/u);
  const second = await site.sync();
  expect(second.lines()).toMatchObject([{ kind: 'summary', unchanged: 1, uploaded: 0 }]);
  expect(second.stderr).toBe('');
});

test('without --json a person reads what was done, and what went wrong by reason', async () => {
  const site = await createSite({ upload: { attempts: 1 } });
  for (let n = 0; n < 8; n++) site.write(`docs/${n}`, 'x');
  site.emulator.faults.add({
    operation: 'upsert',
    kind: 'status',
    status: 400,
    message: 'not this one',
    times: 7,
  });
  const outcome = await run(site.directory, ['sync', '--once'], site.env);
  expect(outcome.code).toBe(3);
  expect(outcome.stdout).toMatch(
    /^Failed \(7\): 400 InvalidPayload: not this one\n( {2}docs\/\d\n){5} {2}… and 2 more\nNOT IN SYNC: 1 uploaded, 7 failed, 1 B/u,
  );
  expect((await run(site.directory, ['sync', '--once', '--force'], site.env)).stdout).toMatch(
    /^In sync: 8 uploaded/u,
  );
  expect((await run(site.directory, ['sync', '--once'], site.env)).stdout).toMatch(
    /^In sync, nothing had to be sent: 8 unchanged/u,
  );
});

test('a name with control characters cannot command the terminal', async () => {
  const site = await createSite({ upload: { attempts: 1 } });
  site.write('docs/\u001b[31mred', 'x');
  site.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 400 });
  const outcome = await run(site.directory, ['sync', '--once', '--log-level', 'silent'], site.env);
  expect(outcome.stdout).toContain('docs/\\u001b[31mred');
  expect(outcome.stdout + outcome.stderr).not.toContain('\u001b');
});

test('sync --dry-run prints the plan, calls nothing, and writes nothing, not even beside the state file', async () => {
  const site = await createSite();
  site.write('docs/a', 'a');
  const plan = (): Promise<{ code: number | null; stdout: string; lines: () => Record<string, unknown>[] }> =>
    run(site.directory, ['sync', '--dry-run', '--json'], {});
  const fresh = await plan();
  expect(fresh.lines()).toMatchObject([
    { kind: 'upload', path: 'a', reason: 'new' },
    { kind: 'summary', uploaded: 1 },
  ]);
  expect(fresh.lines()[0]).not.toHaveProperty('outcome');
  expect(existsSync(join(site.directory, '.botsync'))).toBe(false);
  await site.sync();
  const before = snapshot(join(site.directory, '.botsync'));
  site.write('docs/b', 'b');
  const counts = [...site.emulator.counts];
  expect((await plan()).lines()).toMatchObject([
    { kind: 'upload', path: 'b' },
    { kind: 'summary', uploaded: 1, unchanged: 1 },
  ]);
  expect(snapshot(join(site.directory, '.botsync'))).toEqual(before);
  expect([...site.emulator.counts]).toEqual(counts);
  const text = await run(site.directory, ['sync', '--dry-run']);
  expect(text.stdout).toMatch(
    /^upload {2}docs\/b {2}\(new\)\nDry run, nothing was sent: 1 to upload, 1 unchanged/u,
  );
});

test('a dry run that the platform refuses says so, also when all is on record: exit 4', async () => {
  const site = await createSite({}, { recordRequests: true }, 'auto');
  site.write('docs/a', 'a');
  const plan = (): Promise<Ended> =>
    run(site.directory, ['sync', '--dry-run'], { ...site.env, BOTSYNC_TOKEN: 'another' });
  const refusal =
    /^warning: the files of bot bot-1 cannot be listed, so the plan is made without the platform: 401 Unauthorized: .*\nwarning: .* refuses the credentials: check platform\.token \(from the environment variable BOTSYNC_TOKEN\), platform\.workspaceId and the bot ids, or run: botsync doctor\n$/u;
  const fresh = await plan();
  expect(fresh).toMatchObject({ code: 4, stderr: expect.stringMatching(refusal) as string });
  expect(fresh.stdout).toMatch(/^upload {2}docs\/a {2}\(new\)\n/u);
  await site.sync();
  expect(await plan()).toMatchObject({ code: 4, stderr: expect.stringMatching(refusal) as string });
  const before = site.emulator.requests.length;
  expect(await run(site.directory, ['sync', '--dry-run'], site.env)).toMatchObject({ code: 0, stderr: '' });
  expect(site.emulator.requests.slice(before)).toMatchObject([{ operation: 'list-files' }]);
});

test('a dry run for a bot that the platform does not know says so: exit 4', async () => {
  const site = await createSite({}, { bots: [{ id: 'bot-9', name: 'Nine' }] }, 'auto');
  site.write('docs/a', 'a');
  const outcome = await run(site.directory, ['sync', '--dry-run'], site.env);
  expect(outcome.code).toBe(4);
  expect(outcome.stderr).toMatch(/does not know the bot bot-1: check botId/u);
});

test('a dry run works without a platform and without a token, and says so', async () => {
  const site = await createSite({}, { recordRequests: true }, 'auto');
  site.write('docs/a', 'a');
  const { port } = new URL(site.emulator.baseUrl);
  await site.sync();
  await site.emulator.close();
  const unreachable = await run(site.directory, ['sync', '--dry-run'], site.env);
  expect(unreachable).toMatchObject({ code: 0, stdout: expect.stringContaining('1 unchanged') as string });
  expect(unreachable.stderr).toMatch(
    new RegExp(
      `^warning: the files of bot bot-1 cannot be listed, so the plan is made without the platform: .*:${port}.*\n$`,
      'u',
    ),
  );
  const tokenless = await run(site.directory, ['sync', '--dry-run'], {});
  expect(tokenless).toMatchObject({ code: 0, stdout: expect.stringContaining('1 unchanged') as string });
  expect(tokenless.stderr).toMatch(
    /^warning: the platform cannot be asked, so the plan is made without it: .*BOTSYNC_TOKEN is not set.*\n$/u,
  );
});

function snapshot(directory: string): [string, string][] {
  return readdirSync(directory).map((name) => {
    const { mtimeMs, size } = statSync(join(directory, name));
    return [name, `${size} ${mtimeMs}`];
  });
}

test('many transfers at a time draw no warning of Node', async () => {
  const site = await createSite({ upload: { concurrency: 32 } });
  for (let n = 0; n < 100; n++) site.write(`docs/${n}`, 'x');
  const outcome = await site.sync('--log-level', 'error');
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
});

test('a source that is halted is logged as what needs somebody', async () => {
  const site = await createSite();
  rmSync(join(site.directory, 'docs'), { recursive: true });
  const outcome = await site.sync();
  expect(outcome.code).toBe(5);
  expect(outcome.stderr).toMatch(/^halted docs: /u);
});

test('--force with a pattern that matches nothing says so', async () => {
  const site = await createSite();
  site.write('docs/a', 'a');
  const refused = await site.sync('--force', 'nothing/**');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  const { message } = JSON.parse(refused.stderr) as { readonly message: string };
  expect(message).toContain('--force "nothing/**" matches no file, so nothing was sent');
  expect((await site.sync('--force', 'a')).stderr).not.toContain('matches no file');
});

test('a config with mistakes names file, line, field and fix, all at once', async () => {
  const directory = temporaryDirectory();
  writeFileSync(
    join(directory, 'botsync.config.json'),
    '{\n  "platform": { "botId": "b" },\n  "sources": [{ "directory": "d", "keyPrefx": "x" }],\n  "uplod": {}\n}\n',
  );
  const outcome = await run(directory, ['sync', '--once']);
  expect(outcome.code).toBe(2);
  expect(outcome.stderr).toMatch(/botsync\.config\.json:3:35: sources\[0\]\.keyPrefx: .*"keyPrefix"/u);
  expect(outcome.stderr).toMatch(/botsync\.config\.json:4:3: uplod: .*"upload"/u);
});

test('a token that is missing, and one that the platform refuses', async () => {
  const site = await createSite();
  site.write('docs/a', 'a');
  const missing = await run(site.directory, ['sync', '--once']);
  expect(missing).toMatchObject({ code: 2, stdout: '' });
  expect(missing.stderr).toContain('BOTSYNC_TOKEN');
  const wrong = await run(site.directory, ['sync', '--once', '--json'], {
    BOTSYNC_TOKEN: 'bp_pat_wrong_and_secret',
  });
  expect(wrong.code).toBe(4);
  expect(wrong.lines().at(-1)).toMatchObject({ kind: 'summary', uploaded: 0 });
  expect(wrong.stdout + wrong.stderr).not.toContain('wrong_and_secret');
});

test('secrets reach neither output nor log nor state file, whatever fails', async () => {
  const site = await createSite({ upload: { attempts: 2 } });
  for (let n = 0; n < 6; n++) site.write(`docs/${n}`, 'x');
  site.emulator.faults.add({ operation: 'upload', kind: 'status', status: 403, times: 3 });
  site.emulator.faults.add({ operation: 'upload', kind: 'drop', times: 3 });
  site.emulator.faults.add({ operation: 'upsert', kind: 'garbage', times: 2 });
  const outcome = await site.sync('--log-level', 'trace');
  const state = readFileSync(join(site.directory, '.botsync/state.db'), 'latin1');
  for (const text of [outcome.stdout, outcome.stderr, state]) {
    expect(text).not.toContain(site.emulator.token);
    expect(text).not.toMatch(/X-Amz-Signature|\/upload\//u);
  }
});

test('a second botsync on the same state file ends at once with 6 and says who holds it', async () => {
  const site = await createSite();
  const attempt = acquireLock(join(site.directory, '.botsync/state.db'), 'sync --once', new Date());
  if (attempt.kind !== 'held') throw new Error(attempt.kind);
  const outcome = await site.sync();
  expect(outcome).toMatchObject({ code: 6, stdout: '' });
  expect(outcome.stderr).toContain(`process ${process.pid}`);
  attempt.lock.release();
  expect(await site.sync()).toMatchObject({ code: 0 });
});

test('a state file that a killed process left damaged is kept, told of loudly, and rebuilt; nothing is removed', async () => {
  const site = await createSite({ removals: { mode: 'expire' } });
  for (let n = 0; n < 200; n++) site.write(`docs/${n}`, 'x');
  await site.sync();
  const file = join(site.directory, '.botsync/state.db');
  rmSync(join(site.directory, 'docs/7'));
  writeFileSync(file, readFileSync(file).fill(0, 8192, 12_288));
  writeFileSync(`${file}.lock.json`, JSON.stringify({ pid: 2 ** 22, host: 'x', since: '', command: 'sync' }));
  const outcome = await site.sync();
  expect(outcome.code).toBe(0);
  expect(outcome.stderr).toContain('DAMAGED');
  expect(outcome.lines().at(-1)).toMatchObject({ uploaded: 199, removed: 0 });
  expect(
    readdirSync(join(site.directory, '.botsync')).some((name) => name.startsWith('state.db.damaged-')),
  ).toBe(true);
  expect(site.emulator.listFiles('bot-1')).toHaveLength(200);
  expect((await site.sync()).lines()).toMatchObject([{ kind: 'summary', unchanged: 199 }]);
});

test('a state file of a newer version, and one of another program, are not touched: exit 2', async () => {
  const site = await createSite();
  site.write('docs/a', 'a');
  await site.sync();
  const { DatabaseSync } = await import('@photostructure/sqlite');
  const file = join(site.directory, '.botsync/state.db');
  for (const pragma of ['user_version = 99', 'user_version = 1; PRAGMA application_id = 5']) {
    const database = new DatabaseSync(file);
    database.exec(`PRAGMA ${pragma}`);
    database.close();
    const before = readFileSync(file);
    for (const args of [['sync', '--once'], ['sync', '--dry-run'], ['status'], ['explain', 'docs/a']]) {
      expect(await run(site.directory, args, site.env)).toMatchObject({ code: 2, stdout: '' });
    }
    expect(readFileSync(file).equals(before)).toBe(true);
  }
});

test('a state file that cannot be written is a matter of configuration: exit 2, and nothing is sent', async () => {
  const site = await createSite({ stateFile: './docs/a/state.db' });
  site.write('docs/a', 'a file, not a directory');
  const outcome = await site.sync();
  expect(outcome).toMatchObject({ code: 2, stdout: '' });
  expect(outcome.stderr).toContain('cannot be');
  expect(site.emulator.counts.size).toBe(0);
});

test('warnings: a config others can write to, a token file others can read', async () => {
  const site = await createSite();
  site.write('token', site.emulator.token);
  chmodSync(join(site.directory, 'token'), 0o644);
  chmodSync(join(site.directory, 'botsync.config.json'), 0o666);
  const config = readFileSync(join(site.directory, 'botsync.config.json'), 'utf8').replace(
    'env:BOTSYNC_TOKEN',
    'file:./token',
  );
  site.write('botsync.config.json', config);
  const outcome = await site.sync();
  expect(outcome.code).toBe(0);
  expect(outcome.stderr).toContain('chmod go-w');
  expect(outcome.stderr).toContain('chmod 600');
});

test('--emulator needs no secret, keeps its data beside the config, and leaves the real state file alone', async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'docs'));
  writeFileSync(join(directory, 'docs/a'), 'a');
  const config = { platform: { botId: 'b', token: 'env:BOTSYNC_TOKEN' }, sources: [{ directory: './docs' }] };
  writeFileSync(join(directory, 'botsync.config.json'), JSON.stringify(config));
  const proxy = { HTTPS_PROXY: 'http://127.0.0.1:1', HTTP_PROXY: 'http://127.0.0.1:1' };
  const first = await run(directory, ['sync', '--once', '--emulator'], proxy);
  expect(first).toMatchObject({ code: 0 });
  expect(first.stdout).toContain(join(directory, '.botsync', 'emulator'));
  expect(first.stdout).toContain('Try next');
  expect(existsSync(join(directory, '.botsync/state.db'))).toBe(false);
  expect((await run(directory, ['sync', '--once', '--emulator'], proxy)).stdout).toMatch(
    /^In sync, nothing had to be sent/u,
  );
  expect((await run(directory, ['status', '--emulator', '--json'])).lines()).toMatchObject([
    {
      sources: [{ name: 'docs', files: 1, bytes: 1 }],
      failures: [],
      lastPass: { exitCode: 0 },
      daemon: null,
    },
  ]);
});
