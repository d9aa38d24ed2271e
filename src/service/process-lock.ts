import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  mkdirSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { accessObstacle } from './access-obstacle.ts';

/** The holder of a lock, as in the JSON file next to it. */
export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** ISO 8601. */
  readonly since: string;
  /** Its command, for people: "sync --once". */
  readonly command: string;
}

/** A lock that is held until `release`, or until the process ends in any way. */
export interface ProcessLock {
  /** The previous holder did not release the lock: it was killed, or the machine crashed. */
  readonly wasAbandoned: boolean;
  /** Returns whether the locked file is still the one at its path; if not, another process could lock that one. */
  readonly isInPlace: () => boolean;
  /** Further calls do nothing. */
  readonly release: () => void;
}

export type LockAttempt =
  | { readonly kind: 'held'; readonly lock: ProcessLock }
  | { readonly kind: 'busy'; readonly holder: LockHolder | null }
  | { readonly kind: 'unusable'; readonly reason: string; readonly fix: string };

// Primary result codes, https://www.sqlite.org/rescode.html
const SQLITE_BUSY = 5;
const SQLITE_IOERR = 10;
const SQLITE_NOTADB = 26;

/** Locks are open write transactions; this set keeps their connections from being garbage-collected. */
const held = new Set<DatabaseSyncInstance>();

/**
 * Takes the lock `<subject>.lock`. The operating system releases it with the process, so a dead process is no
 * obstacle. Node has no file locks, and a process id alone proves nothing.
 */
export function acquireLock(subject: string, command: string, now: Date): LockAttempt {
  const lockFile = `${subject}.lock`;
  let database: DatabaseSyncInstance;
  try {
    makeDirectory(dirname(subject));
    // SQLite would create the file readable, and so lockable, for others; its journal gets the mode of the file. An
    // existing file is not opened, since closing it would end a lock that this process holds on it.
    if (!existsSync(lockFile)) closeSync(openSync(lockFile, 'a', 0o600));
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
        // Another lock file belongs to another holder.
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
  // On a file system without locks every file seems to be busy, or to fail.
  const maybe = errcode === SQLITE_BUSY || ((errcode ?? 0) & 0xff) === SQLITE_IOERR;
  if (maybe && holder === null && lacksLocks(dirname(subject)))
    return {
      kind: 'unusable',
      reason: 'its file system does not support locks',
      fix: 'put it on another one',
    };
  return errcode === SQLITE_BUSY ? { kind: 'busy', holder } : unusable(subject, error);
}

/** Returns whether not even a new file can be locked there. */
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
 * Returns the live holder of a lock; `null` if none is known. Touches the lock itself only if the holder is on
 * another host, which may be a container that no longer exists.
 */
export function findHolder(subject: string): LockHolder | null {
  const holder = readHolder(subject);
  if (holder === null) return null;
  return (holder.host === hostname() ? isAlive(holder) : isLocked(subject)) ? holder : null;
}

/** Returns whether a lock is held, or may be. */
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

/** Identifies a file; `null` if it does not exist or cannot be checked. */
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

/** Ticks are hundredths of a second, and the boot time is in seconds. */
const START_TOLERANCE_MS = 2000;

/**
 * Returns when a process started, in epoch milliseconds: a later one reuses the id of a dead holder. `null` if
 * unknown.
 */
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

/**
 * Creates a directory and its missing parents, for this user only. Throws the system's error. Node's recursive
 * `mkdirSync` never ends below `/proc`, where a directory exists but nothing can be created in it (ENOENT).
 */
export function makeDirectory(path: string): void {
  const missing: string[] = [];
  for (let next = path; !isDirectory(next) && dirname(next) !== next; next = dirname(next))
    missing.push(next);
  for (const directory of missing.reverse()) make(directory);
}

function make(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isDirectory(directory)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
