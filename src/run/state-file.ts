import { accessObstacle } from '../service/access-obstacle.ts';
import { type ProcessLock, acquireLock, type LockHolder } from '../service/process-lock.ts';
import { StateFileError } from '../store/database.ts';
import { openState, setAside, type KeptFile } from '../store/open.ts';
import type { StateStore } from '../store/state-store.ts';
import { SyncError, type SyncErrorCode } from './sync-error.ts';

/** Opens the state file for a pass. Warns if an earlier file was set aside. Throws `SyncError` if the file is unusable. */
function openStateFile(file: string, checkThoroughly: boolean, warn: (message: string) => void): StateStore {
  const opened = openState(file, { checkThoroughly, nowMs: Date.now() });
  switch (opened.kind) {
    case 'open':
      if (opened.setAside !== null) warn(describeKept(opened.setAside));
      return opened.store;
    case 'newer':
      throw new SyncError('state-file', {
        place: file,
        reason: `was written by a newer botsync (state version ${opened.version})`,
        fix: 'install that version, or name another stateFile',
      });
    case 'foreign':
      throw new SyncError('state-file', {
        place: file,
        reason: 'is a database of another program and was not touched',
        fix: 'name another stateFile',
      });
    case 'unusable': {
      const { reason, fix } = accessObstacle(file, 'write') ?? {
        reason: opened.reason,
        fix: 'check that this user may write there and that the disk has room',
      };
      throw new SyncError('state-file', { place: file, reason: `cannot be used: ${reason}`, fix });
    }
  }
}

export type StateFileUse<T> =
  | { readonly kind: 'ended'; readonly value: T }
  /** `isClosing`: everything was done, and only the end of it could not be written. */
  | { readonly kind: 'failed'; readonly error: StateFileError; readonly isClosing: boolean };

/** Opens the state file for a task, and closes it afterwards. Throws `SyncError` if it cannot be opened. */
export async function useStateFile<T>(
  file: string,
  { checkThoroughly, warn }: { readonly checkThoroughly: boolean; readonly warn: (message: string) => void },
  task: (state: StateStore) => Promise<T>,
): Promise<StateFileUse<T>> {
  const state = openStateFile(file, checkThoroughly, warn);
  let isClosing = false;
  try {
    const value = await task(state);
    isClosing = true;
    state.close();
    return { kind: 'ended', value };
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error;
    return { kind: 'failed', error, isClosing };
  } finally {
    closeQuietly(state);
  }
}

/** After a failure, or if it is closed already. */
function closeQuietly(state: StateStore): void {
  try {
    state.close();
  } catch {
    // The failure was reported.
  }
}

/** Sets a damaged state file aside. Returns the message about it, or why it could not be set aside. */
export function setDamagedAside(
  file: string,
  error: StateFileError,
  nowMs: number,
):
  { readonly kind: 'kept'; readonly message: string } | { readonly kind: 'failed'; readonly reason: string } {
  const aside = setAside(file, 'damaged', nowMs);
  if (aside.kind === 'failed') return aside;
  const message = `THE STATE FILE IS DAMAGED (${error.message}). It is kept as ${aside.name}; a new one is built by sending every file again.`;
  return { kind: 'kept', message };
}

function describeKept({ name, why }: KeptFile): string {
  return why === 'damaged'
    ? `THE STATE FILE WAS DAMAGED. It is kept as ${name}. A new one is built by sending every file again; nothing is removed on the platform because of this.`
    : `The state file was written by an older botsync. It is kept as ${name}. A new one is built: files that the bot has already are not sent again; nothing is removed on the platform because of this.`;
}

/** The command name in the lock of a service. */
export const SERVICE = 'sync';

/**
 * Takes the lock of a state file or data directory. Throws `SyncError`: `busy` with the holder, or `state-file` with
 * the reason.
 */
export function holdLock(subject: string, what: string, command: string): ProcessLock {
  const lockError = (code: SyncErrorCode, { reason, fix }: { reason: string; fix: string }): SyncError =>
    new SyncError(code, { place: subject, reason, fix, message: `${what} ${subject} ${reason}; ${fix}` });
  const attempt = acquireLock(subject, command, new Date());
  switch (attempt.kind) {
    case 'held':
      return attempt.lock;
    case 'busy':
      throw lockError('busy', {
        reason: `is held by another botsync${describe(attempt.holder)}`,
        fix: 'wait for it, or stop it',
      });
    case 'unusable':
      throw lockError('state-file', { reason: `cannot be locked: ${attempt.reason}`, fix: attempt.fix });
  }
}

function describe(holder: LockHolder | null): string {
  if (holder === null) return '';
  return ` ("${holder.command}", process ${holder.pid} on ${holder.host}, since ${holder.since})`;
}
