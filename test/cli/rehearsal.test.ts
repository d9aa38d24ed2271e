import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readRehearsal, rehearse } from '../../src/cli/commands/emulator.ts';
import { UsageError } from '../../src/cli/usage-error.ts';
import { put, start as startEmulator } from '../emulator/fixture.ts';
import { run, start, temporaryDirectory } from './binary.ts';

const NONE = { slow: undefined, fail: undefined, failFor: undefined };

test.each([
  [{}, { slowBytesPerSecond: null, outage: null }],
  [{ slow: '' }, { slowBytesPerSecond: 100_000, outage: null }],
  [{ slow: '5000' }, { slowBytesPerSecond: 5000, outage: null }],
  [{ fail: 401 }, { slowBytesPerSecond: null, outage: { status: 401, forMs: null } }],
  [{ failFor: '30s' }, { slowBytesPerSecond: null, outage: { status: 503, forMs: 30_000 } }],
])('a rehearsal: %j', (options, rehearsal) => {
  expect(readRehearsal({ ...NONE, ...options })).toEqual(rehearsal);
});

test.each([
  [{ slow: 'very' }, '--slow very: write a number of bytes per second'],
  [{ slow: '0' }, '--slow 0: write a number'],
  [{ fail: 200 }, '--fail takes a status from 400 to 599'],
  [{ fail: NaN }, '--fail takes a status'],
  [{ failFor: '30' }, '--fail-for: "30" is not a duration; add a unit'],
  [{ failFor: '30d' }, '--fail-for: "30d" is too long'],
])('what is no rehearsal: %j', (options, message) => {
  const read = (): unknown => readRehearsal({ ...NONE, ...options });
  expect(read).toThrow(UsageError);
  expect(read).toThrow(message);
});

test('an outage ends by itself, and a stop does not wait for its end', async () => {
  const { emulator } = await startEmulator();
  let isOver: () => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    isOver = resolve;
  });
  const short = { slowBytesPerSecond: null, outage: { status: 502, forMs: 1 } };
  await rehearse(short, emulator.conditions, isOver);
  expect(emulator.conditions.get('unavailable')).toEqual({ kind: 'unavailable', status: 502 });
  await over;
  expect((await put(emulator, { key: 'a', size: 1 })).status).toBe(200);
  const outage = { status: 502, forMs: 3_600_000 };
  (
    await rehearse({ slowBytesPerSecond: null, outage }, emulator.conditions, () => {
      expect.fail('the outage ended');
    })
  )();
  expect(emulator.conditions.get('unavailable')).not.toBeNull();
});

test('what the emulator prints can be pasted into a shell, and a sync works', async () => {
  const directory = temporaryDirectory();
  const args = ['emulator', '--port', '0', '--bot', 'bot-7=Number seven', '--slow', '--fail-for', '1ms'];
  const { child, ended } = start(directory, args);
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let text = '';
  child.stdout?.on('data', (chunk: string) => (text += chunk));
  await expect.poll(() => text).toContain('Data: ');
  expect(text).toContain(
    '\nUploads are read at 100000 bytes per second.\nEvery request is answered with 503 for 1ms.\n',
  );
  const [, pasted = ''] = /paste into another shell[^\n]*:\n((?: {2}.*\n)+)/u.exec(text) ?? [];
  execFileSync('bash', ['-ec', pasted], { cwd: directory, stdio: 'pipe' });
  mkdirSync(join(directory, 'docs'));
  writeFileSync(join(directory, 'docs/a.md'), 'alpha');
  const [, token = ''] = /BOTSYNC_TOKEN=(\S+)/u.exec(pasted) ?? [];
  const synced = await run(directory, ['sync', '--once', '--no-wait'], { BOTSYNC_TOKEN: token });
  expect(synced).toMatchObject({ code: 0, stdout: expect.stringContaining('1 uploaded') as string });
});
