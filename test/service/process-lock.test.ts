import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  acquireLock,
  findHolder,
  type LockAttempt,
  type ProcessLock,
} from '../../src/service/process-lock.ts';
import { run, temporaryDirectory, type Running } from './fixture.ts';

const NOW = new Date();
const OURS = { pid: process.pid, host: hostname(), since: NOW.toISOString(), command: 'sync --once' };

function subject(): string {
  return join(temporaryDirectory(), 'state.db');
}

function acquire(of: string): LockAttempt {
  const attempt = acquireLock(of, 'sync --once', NOW);
  if (attempt.kind === 'held') onTestFinished(attempt.lock.release);
  return attempt;
}

function hold(of: string): ProcessLock {
  const attempt = acquire(of);
  if (attempt.kind !== 'held') throw new Error(JSON.stringify(attempt));
  return attempt.lock;
}

/** Another process that tries the lock, prints what came of it, and stays. */
function other(of: string): Running {
  return run(
    'service/process-lock.ts',
    `import { acquireLock } from './module.js';
     const { kind, holder, lock } = acquireLock(${JSON.stringify(of)}, 'sync', new Date());
     console.log(JSON.stringify({ kind, holder, wasAbandoned: lock?.wasAbandoned }));
     process.stdin.on('data', () => { lock?.release(); process.exit(0); });`,
  );
}

async function resultOf(running: Running): Promise<unknown> {
  return JSON.parse(await running.firstLine) as unknown;
}

/** A number that no process has: one that has ended. */
async function deadPid(): Promise<number> {
  const { child, ended } = run('service/process-lock.ts', '');
  await ended;
  return child.pid ?? 0;
}

test('a lock whose place cannot be looked at is not in place', () => {
  const file = join(temporaryDirectory(), 'state', 'state.db');
  const lock = hold(file);
  renameSync(dirname(file), `${dirname(file)}-away`);
  symlinkSync(dirname(file), dirname(file));
  expect(lock.isInPlace()).toBe(false);
  lock.release();
});

describe('within one process', () => {
  test('a lock whose file went with its directory is not in place, and takes no other holder with it', () => {
    const file = subject();
    const lock = hold(file);
    expect(lock.isInPlace()).toBe(true);
    rmSync(dirname(file), { recursive: true });
    expect(lock.isInPlace()).toBe(false);
    const next = hold(file);
    expect(next.isInPlace()).toBe(true);
    expect(lock.isInPlace()).toBe(false);
    lock.release();
    expect(findHolder(file)).toEqual(OURS);
    expect(next.wasAbandoned).toBe(false);
  });

  test('a second attempt is busy and says who holds it; a release lets the next one in', () => {
    const file = subject();
    const lock = hold(file);
    expect(lock.wasAbandoned).toBe(false);
    expect(acquire(file)).toEqual({ kind: 'busy', holder: OURS });
    expect(acquire(file)).toEqual({ kind: 'busy', holder: OURS });
    lock.release();
    expect(hold(file).wasAbandoned).toBe(false);
    // Once more does not let go of what is another's now.
    lock.release();
    expect(acquire(file)).toEqual({ kind: 'busy', holder: OURS });
  });

  test('is released also where someone took the note of its holder away', () => {
    const file = subject();
    const lock = hold(file);
    rmSync(`${file}.lock.json`);
    lock.release();
    expect(hold(file).wasAbandoned).toBe(false);
  });

  test('locks of different subjects do not meet', () => {
    hold(subject());
    hold(subject());
  });

  test('the holder stands beside it, for the owner only, as long as it is held', () => {
    const file = subject();
    const lock = hold(file);
    expect(JSON.parse(readFileSync(`${file}.lock.json`, 'utf8'))).toEqual(OURS);
    expect(statSync(`${file}.lock.json`).mode & 0o777).toBe(0o600);
    expect(existsSync(file)).toBe(false);
    lock.release();
    expect(existsSync(`${file}.lock.json`)).toBe(false);
  });

  test('makes the directory, for the owner only', () => {
    const directory = join(temporaryDirectory(), 'new', 'deep');
    hold(join(directory, 'state.db'));
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  test('where there can be none it says why', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'file'), '');
    expect(acquire(join(directory, 'file', 'state.db'))).toMatchObject({ kind: 'unusable' });
    mkdirSync(join(directory, 'a.lock'));
    expect(acquire(join(directory, 'a'))).toMatchObject({ kind: 'unusable' });
    writeFileSync(join(directory, 'b.lock'), 'no database\n'.repeat(100));
    expect(acquire(join(directory, 'b'))).toMatchObject({
      kind: 'unusable',
      reason: expect.stringMatching(/not a database/u) as string,
    });
  });

  test('where its holder cannot be noted it says why, and keeps nothing', async () => {
    const file = subject();
    mkdirSync(`${file}.lock.json`);
    expect(acquire(file)).toMatchObject({
      kind: 'unusable',
      reason: expect.stringMatching(/EISDIR/u) as string,
    });
    expect(await resultOf(other(file))).not.toMatchObject({ kind: 'busy' });
  });
});

describe('between processes', () => {
  test('one that lives keeps others out, one that is killed does not and has left a trace', async () => {
    const file = subject();
    const first = other(file);
    expect(await resultOf(first)).toEqual({ kind: 'held', wasAbandoned: false });
    expect(acquire(file)).toMatchObject({ kind: 'busy', holder: { pid: first.child.pid, command: 'sync' } });
    expect(findHolder(file)?.pid).toBe(first.child.pid);
    first.child.kill('SIGKILL');
    expect(await first.ended).toBe('SIGKILL');
    expect(findHolder(file)).toBeNull();
    expect(hold(file).wasAbandoned).toBe(true);
    expect(findHolder(file)).toEqual(OURS);
  });

  test('one that released it has left none', async () => {
    const file = subject();
    const first = other(file);
    await first.firstLine;
    first.child.stdin?.write('release');
    expect(await first.ended).toBe(0);
    expect(hold(file).wasAbandoned).toBe(false);
  });

  test('what we hold keeps others out, also after an attempt of our own that failed', async () => {
    const file = subject();
    const lock = hold(file);
    expect(acquire(file).kind).toBe('busy');
    expect(await resultOf(other(file))).toEqual({ kind: 'busy', holder: OURS });
    lock.release();
    expect(await resultOf(other(file))).toMatchObject({ kind: 'held' });
  });

  test('reading who holds it does not let go of it', async () => {
    const file = subject();
    hold(file);
    expect(findHolder(file)).toEqual(OURS);
    expect(await resultOf(other(file))).toMatchObject({ kind: 'busy' });
  });
});

describe('the holder that is found', () => {
  const noted = (holder: unknown): string => {
    const file = subject();
    writeFileSync(`${file}.lock.json`, typeof holder === 'string' ? holder : JSON.stringify(holder));
    return file;
  };

  test('is nobody where nothing is noted', () => {
    expect(findHolder(subject())).toBeNull();
  });

  test('is not one that is dead', async () => {
    const pid = await deadPid();
    expect(findHolder(noted({ ...OURS, pid }))).toBeNull();
  });

  test('is one of another machine, or of a container, only while the lock is held', () => {
    const elsewhere = { ...OURS, host: 'elsewhere' };
    expect(findHolder(noted(elsewhere))).toBeNull();
    const file = subject();
    const lock = hold(file);
    writeFileSync(`${file}.lock.json`, JSON.stringify(elsewhere));
    expect(findHolder(file)).toEqual(elsewhere);
    lock.release();
    writeFileSync(`${file}.lock.json`, JSON.stringify(elsewhere));
    expect(findHolder(file)).toBeNull();
  });

  test.runIf(process.platform === 'linux')('is not a later process that bears its number', () => {
    const since = new Date(Date.now() - process.uptime() * 1000 - 60_000).toISOString();
    expect(findHolder(noted({ ...OURS, since }))).toBeNull();
    expect(findHolder(noted(OURS))).toEqual(OURS);
  });

  test.runIf(process.getuid?.() !== 0)('is one of another user', () => {
    expect(findHolder(noted({ ...OURS, pid: 1 }))?.pid).toBe(1);
  });

  test.each([
    '',
    '{',
    'null',
    '[]',
    '{"pid":"1","host":"h","since":"s"}',
    '{"pid":1}',
    '{"pid":1,"host":"h"}',
    '{"pid":1,"since":"s"}',
  ])('is nobody where %j is noted', (text) => {
    expect(findHolder(noted(text))).toBeNull();
  });

  test('may be without a command', () => {
    expect(findHolder(noted({ ...OURS, command: undefined }))?.command).toBe('botsync');
  });

  test('that cannot be read does not make a lock less busy', () => {
    const file = subject();
    hold(file);
    writeFileSync(`${file}.lock.json`, 'half');
    expect(acquire(file)).toEqual({ kind: 'busy', holder: null });
  });
});

test('its files are for this user alone, whatever the umask', () => {
  const of = subject();
  const umask = process.umask(0);
  onTestFinished(() => {
    process.umask(umask);
  });
  hold(of);
  const files = readdirSync(dirname(of));
  expect(files.sort()).toEqual(['state.db.lock', 'state.db.lock-journal', 'state.db.lock.json']);
  for (const file of files) expect(statSync(join(dirname(of), file)).mode & 0o777, file).toBe(0o600);
});
