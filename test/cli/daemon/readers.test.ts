import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BINARY, createSite, type Site } from '../binary.ts';
import { POLL, remote } from '../running-daemon.ts';

/** A directory with a path so long that a hundred lines about its files fill a pipe, which holds 64 KiB. */
const LONG = ['a', 'b', 'c'].map((name) => name.repeat(200)).join('/');

/** A named pipe; `read` takes what is in it, for as long as the test lasts. */
function makePipe(directory: string, name: string): { readonly fd: number; readonly read: () => string } {
  const path = join(directory, name);
  execFileSync('mkfifo', [path]);
  // Opened twice: a child is given its end as a blocking one, which would hold for ours as well.
  const ours = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const fd = openSync(path, constants.O_WRONLY);
  onTestFinished(() => {
    closeSync(ours);
    closeSync(fd);
  });
  const buffer = Buffer.alloc(1_000_000);
  return {
    fd,
    read: () => {
      let text = '';
      try {
        for (;;) text += buffer.toString('utf8', 0, readSync(ours, buffer));
      } catch {
        return text;
      }
    },
  };
}

/** Starts a daemon whose output goes to open descriptors. */
function startInto(site: Site, args: readonly string[], stdout: number, stderr: number): ChildProcess {
  const child = spawn(process.execPath, [BINARY, 'sync', '--log-format', 'json', ...args], {
    cwd: site.directory,
    env: { ...process.env, ...site.env, BOTSYNC_CONFIG: '' },
    stdio: ['ignore', stdout, stderr],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

/** The exit code of a process. */
function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('exit', resolve));
}

function writeMany(site: Site, files: number): void {
  const directory = join(site.directory, 'docs', LONG);
  mkdirSync(directory, { recursive: true });
  for (let n = 0; n < files; n++) writeFileSync(join(directory, String(n)), 'content');
}

const lines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('a reader that does not read', () => {
  test.each([
    ['of standard output', 'stdout'],
    ['of standard error', 'stderr'],
  ])(
    '%s holds up neither the daemon nor its end',
    async (_, name) => {
      const site = await createSite({ upload: { concurrency: 64 } });
      const pipe = makePipe(site.directory, name);
      const other = openSync('/dev/null', 'w');
      onTestFinished(() => {
        closeSync(other);
      });
      writeMany(site, 100);
      const into = (wanted: string): number => (wanted === name ? pipe.fd : other);
      const daemon = startInto(site, ['--json'], into('stdout'), into('stderr'));
      const isThere = (path: string) => () => remote(site, path) !== null;
      await expect.poll(isThere(`${LONG}/99`), { ...POLL, timeout: 40_000 }).toBe(true);
      site.write('docs/later', 'one more');
      await expect.poll(isThere('later'), { ...POLL, timeout: 40_000 }).toBe(true);
      const end = ended(daemon);
      daemon.kill('SIGTERM');
      expect(await end).toBe(0);
    },
    90_000,
  );
});

test('a reader that comes back is told what it missed, in its place', async () => {
  // Refused files cost no request, and make a line each.
  const site = await createSite({ limits: { fileBytes: 1 } });
  const results = makePipe(site.directory, 'results');
  const log = makePipe(site.directory, 'log');
  // Botsync keeps 1 MB for a reader.
  writeMany(site, 1500);
  const daemon = startInto(site, ['--json', '--log-level', 'error'], results.fd, log.fd);
  let told = '';
  const isTold = (): boolean => (told += log.read()).includes('nobody reads standard output');
  await expect.poll(isTold, { ...POLL, timeout: 40_000 }).toBe(true);
  let text = '';
  const hasGap = (): boolean => (text += results.read()).includes('"kind":"dropped"');
  await expect.poll(hasGap, POLL).toBe(true);
  const read = lines(text);
  const [gap] = read.filter(({ kind }) => kind === 'dropped');
  // A line a file and one for the pass.
  expect(read.length - 1 + Number(gap?.['lines'])).toBe(1501);
  const end = ended(daemon);
  daemon.kill('SIGTERM');
  expect(await end).toBe(0);
}, 90_000);
