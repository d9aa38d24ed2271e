import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSite, run, start } from './binary.ts';
import { POLL } from './running-daemon.ts';
import { converse, hasTerminal } from './terminal.ts';

const SLOW = { kind: 'slow-store', bytesPerSecond: 200_000 } as const;
const CTRL_C = '\u0003';

test.runIf(hasTerminal)(
  'a terminal shows bytes in flight in colour; the second Ctrl-C sums up what was interrupted',
  async () => {
    const site = await createSite();
    site.write('docs/a.md', 'small');
    site.write('docs/lectures/video.mp4', Buffer.alloc(8_000_000));
    await site.emulator.conditions.set(SLOW);
    const { code, screen } = await converse(site.directory, ['sync', '--once'], site.env, [
      ['1 of 2 files', ''],
      ['video.mp4 ', CTRL_C],
      ['to stop at once.', CTRL_C],
    ]);
    expect(code).toBe(130);
    expect(screen).toMatch(/\r\nStopping: 1 file being sent \(docs\/lectures\/video\.mp4, .*B of/u);
    expect(screen).toMatch(
      /Interrupted: 1 file being sent \(docs\/lectures\/video\.mp4, [\d.]+ [kM]?B of 8 MB\)/u,
    );
    expect(screen).toMatch(
      /\u001b\[31mNOT IN SYNC, and the pass is incomplete\u001b\[39m: 1 uploaded, 1 pending, .*\(/u,
    );
    expect(screen).not.toContain('(0.0 s)');
  },
);

test.runIf(hasTerminal)(
  'the second Ctrl-C says what was interrupted also where it ended the reader of the results',
  async () => {
    const site = await createSite();
    site.write('docs/video.mp4', Buffer.alloc(8_000_000));
    await site.emulator.conditions.set(SLOW);
    const piped = ['bash', '-c', '"$@" | cat', 'bash'];
    const { screen } = await converse(
      site.directory,
      ['sync', '--once'],
      site.env,
      [
        ['video.mp4 ', CTRL_C],
        ['to stop at once.', CTRL_C],
      ],
      piped,
    );
    expect(screen).toMatch(/Interrupted: 1 .*video\.mp4/u);
  },
);

test.runIf(hasTerminal)(
  'in an outage a terminal says when the platform is tried next; NO_COLOR has no colour',
  async () => {
    const site = await createSite();
    site.write('docs/a.md', 'small');
    await site.emulator.conditions.set({ kind: 'unavailable' });
    const shown = converse(site.directory, ['sync', '--once'], { ...site.env, NO_COLOR: '1' }, [
      ['waiting, next try in 0:0', CTRL_C],
    ]);
    const { code, screen } = await shown;
    expect(code).toBe(130);
    expect(screen).toMatch(/waiting, next try in 0:\d\d, giving up in \d:\d\d: platform unreachable: /u);
    expect(screen).toContain('NOT IN SYNC');
    expect(screen).not.toMatch(/\u001b\[3\dm/u);
  },
);

test('in a pipe a pass writes plain lines, for a service manager JSON, in the same words', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'small');
  // A transfer that took less than 0.1 s is reported without its duration.
  await site.emulator.conditions.set({ kind: 'slow-store', bytesPerSecond: 10 });
  const piped = await run(site.directory, ['sync', '--once'], site.env);
  expect(piped.stderr).toMatch(/^uploaded docs\/a\.md \(5 B in \d\.\d s; new\)\n$/u);
  const json = await run(site.directory, ['sync', '--once', '--force'], {
    ...site.env,
    NOTIFY_SOCKET: '/nobody',
  });
  expect(JSON.parse(json.stderr)).toMatchObject({
    ...{
      level: 30,
      kind: 'upload',
      source: 'docs',
      path: 'a.md',
      key: 'a.md',
      reason: 'forced',
      outcome: 'done',
    },
    bytes: 5,
    msg: expect.stringMatching(/^uploaded docs\/a\.md \(5 B in \d\.\d s; because of --force\)$/u) as string,
  });
  const plain = await run(site.directory, ['sync', '--once', '--force'], {
    ...site.env,
    FORCE_COLOR: '1',
    NO_COLOR: '',
  });
  expect(plain.stderr).toContain('\u001b[32muploaded\u001b[39m docs/a.md');
  const forbidden = await run(site.directory, ['sync', '--once', '--force', '--no-color'], {
    ...{ ...site.env, FORCE_COLOR: '1', NO_COLOR: '' },
  });
  expect(forbidden.stderr + forbidden.stdout).not.toContain('\u001b');
});

test('a service says what it runs for, what it waits for, and when all is in sync', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'small');
  const daemon = start(site.directory, ['sync'], site.env);
  let log = '';
  daemon.child.stderr?.on('data', (text: string) => (log += text));
  await expect.poll(() => log, POLL).toContain('watching 1 directory for changes');
  site.write('docs/b.md', 'one');
  site.write('docs/c.md', 'two');
  await expect.poll(() => log, POLL).toContain('2 uploaded, 6 B');
  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
  const lines = log.split('\n').map((line) => line.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}/u, '- '));
  expect(lines[0]).toMatch(/^- botsync \d+\.\d+\.\d+ \(Node v/u);
  expect(lines.slice(1, 5)).toEqual([
    `- configuration: ${site.directory}/botsync.config.json`,
    `- platform: ${site.emulator.baseUrl}`,
    `- source docs: ${site.directory}/docs to bot bot-1`,
    '- checking all files …',
  ]);
  expect(log).toMatch(/In sync: 1 uploaded, 5 B \(/u);
  expect(log).toMatch(/In sync: 2 uploaded, 6 B \(/u);
  expect(lines.at(-2)).toBe('- stopped');
});

test.runIf(hasTerminal)(
  'on a terminal of 60 columns lines break between words, and a command stays on one line',
  { timeout: 60_000 },
  async () => {
    const site = await createSite({ limits: { fileBytes: 10 } });
    site.write('docs/large.md', 'much too large for the limit');
    await site.sync();
    const narrow = ['sh', '-c', 'stty cols 60; exec "$@"', 'sh'];
    const env = { ...site.env, NO_COLOR: '1' };
    const lines = async (...args: string[]): Promise<string[]> =>
      (await converse(site.directory, args, env, [], narrow)).screen.split(/\r?\n/u);
    const status = await lines('status');
    expect(status.filter((line) => line.length > 60)).toEqual([]);
    expect(status.join(' ').replace(/ +/gu, ' ')).toContain(
      'docs/large.md: refused: 28 bytes are more than limits.fileBytes (10); retried when the file or its rules change',
    );
    site.write('docs/small.md', 'small');
    await site.sync();
    rmSync(join(site.directory, 'docs'), { recursive: true });
    mkdirSync(join(site.directory, 'docs'));
    await site.sync();
    const halted = (await lines('status')).find((line) => line.includes('HALTED'));
    expect(halted).toMatch(/; if that is right, run: botsync .+$/u);
    expect(halted?.length).toBeGreaterThan(60);
  },
);
