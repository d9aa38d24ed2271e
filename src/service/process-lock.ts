import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { accessObstacle } from './access-obstacle.ts';
import { makeDirectory } from './make-directory.ts';

/** Who holds a lock: what stands in the JSON file beside it. */
export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** ISO 8601. */
  readonly since: string;
  /** What it runs as, for people: "sync --once". */
  readonly command: string;
}

/** A lock that is held until `release` is called or the process ends, however it ends. */
export interface ProcessLock {
  /** The holder before us did not release the lock: it was killed, or the machine went down. */
  readonly wasAbandoned: boolean;
  /** Whether the file that is locked is still the one at its path: else another process could lock that one as well. */
  readonly isInPlace: () => boolean;
  /** Done once; the lock may be another's afterwards. */
  readonly release: () => void;
}

/** A lock, who holds it instead, or why there can be none and what to do about it. */
export type LockAttempt =
  | { readonly kind: 'held'; readonly lock: ProcessLock }
  | { readonly kind: 'busy'; readonly holder: LockHolder | null }
  | { readonly kind: 'unusable'; readonly reason: string; readonly fix: string };

// Primary result codes, https://www.sqlite.org/rescode.html
const SQLITE_BUSY = 5;
const SQLITE_IOERR = 10;
const SQLITE_NOTADB = 26;

/** Locks are a write transaction that stays open; these keep the connections from being collected. */
const held = new Set<DatabaseSyncInstance>();

/**
 * Takes the lock `<subject>.lock`. The operating system releases it with the process, so a dead one is no obstacle;
 * file locks of Node's own would not, and a process id alone proves nothing.
 */
export function acquireLock(subject: string, command: string, now: Date): LockAttempt {
  const lockFile = `${subject}.lock`;
  let database: DatabaseSyncInstance;
  try {
    makeDirectory(dirname(subject));
    database = new DatabaseSync(lockFile, { timeout: 0 });
  } catch (error) {
    return unusable(subject, error);
  }
  try {
    database.exec('BEGIN IMMEDIATE');
  } catch (error) {
    database.close();
    return whyNotHeld(subject, error);
  }
  held.add(database);
  const locked = inodeOf(lockFile);
  const isInPlace = (): boolean => inodeOf(lockFile) === locked;
  const holderFile = holderFileOf(subject);
  const wasAbandoned = existsSync(holderFile);
  const holder: LockHolder = { pid: process.pid, host: hostname(), since: now.toISOString(), command };
  try {
    writeFileSync(holderFile, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  } catch (error) {
    held.delete(database);
    database.close();
    return unusable(subject, error);
  }
  return {
    kind: 'held',
    lock: {
      wasAbandoned,
      isInPlace,
      release: () => {
        if (!held.delete(database)) return;
        // Beside another lock file stands another holder.
        if (isInPlace()) rmSync(holderFile, { force: true });
        database.close();
      },
    },
  };
}

function unusable(subject: string, error: unknown): LockAttempt {
  const { reason, fix } = accessObstacle(subject, 'write') ?? {
    reason: (error as Error).message,
    fix: 'check that this user may write there and that the disk has room',
  };
  return { kind: 'unusable', reason, fix };
}

function whyNotHeld(subject: string, error: unknown): LockAttempt {
  const { errcode } = error as { errcode?: number };
  if (errcode === SQLITE_NOTADB)
    return {
      kind: 'unusable',
      reason: (error as Error).message,
      fix: `remove ${subject}.lock, which is not a lock file of botsync`,
    };
  const holder = readHolder(subject);
  // Without locks every file seems to be busy, or to fail.
  const maybe = errcode === SQLITE_BUSY || ((errcode ?? 0) & 0xff) === SQLITE_IOERR;
  if (maybe && holder === null && lacksLocks(dirname(subject)))
    return {
      kind: 'unusable',
      reason: 'its file system does not support locks',
      fix: 'put it on another one',
    };
  return errcode === SQLITE_BUSY ? { kind: 'busy', holder } : unusable(subject, error);
}

/** Whether not even a file that nobody else knows can be locked there. */
function lacksLocks(parent: string): boolean {
  let directory: string | null = null;
  try {
    directory = mkdtempSync(join(parent, 'locks-'));
    const database = new DatabaseSync(join(directory, 'lock'), { timeout: 0 });
    try {
      database.exec('BEGIN IMMEDIATE');
    } finally {
      database.close();
    }
    return false;
  } catch {
    return directory !== null;
  } finally {
    if (directory !== null) rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * The live holder of a lock; `null` when nobody is known to hold it. The lock itself is not touched, unless another
 * host is named: that may be a container that is no more.
 */
export function findHolder(subject: string): LockHolder | null {
  const holder = readHolder(subject);
  if (holder === null) return null;
  return (holder.host === hostname() ? isAlive(holder) : isLocked(subject)) ? holder : null;
}

/** Whether a lock is held, as far as can be told. */
function isLocked(subject: string): boolean {
  if (!existsSync(`${subject}.lock`)) return false;
  try {
    const database = new DatabaseSync(`${subject}.lock`, { timeout: 0 });
    try {
      database.exec('BEGIN IMMEDIATE; ROLLBACK');
      return false;
    } finally {
      database.close();
    }
  } catch {
    return true;
  }
}

/** A file as the file system knows it; `null` when it is not there, or cannot be checked. */
function inodeOf(file: string): string | null {
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}

function holderFileOf(subject: string): string {
  return `${subject}.lock.json`;
}

function readHolder(subject: string): LockHolder | null {
  try {
    const holder = JSON.parse(readFileSync(holderFileOf(subject), 'utf8')) as Partial<LockHolder>;
    const { pid, host, since, command } = holder;
    if (typeof pid !== 'number' || typeof host !== 'string' || typeof since !== 'string') return null;
    return { pid, host, since, command: command ?? 'botsync' };
  } catch {
    return null;
  }
}

function isAlive({ pid, since }: LockHolder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const startedMs = startOf(pid);
  return startedMs === null || startedMs <= Date.parse(since) + START_TOLERANCE_MS;
}

/** Ticks are hundredths of a second, and the moment of the boot is told in seconds. */
const START_TOLERANCE_MS = 2000;

/** When a process started, epoch milliseconds: a later one bears a dead holder's number. `null` where that is not known. */
function startOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
    const bootSeconds = Number(/^btime (\d+)$/mu.exec(readFileSync('/proc/stat', 'utf8'))?.[1]);
    const startedMs = bootSeconds * 1000 + ticks * 10;
    return Number.isNaN(startedMs) ? null : startedMs;
  } catch {
    return null;
  }
}
