import { acquireLock, type LockHolder, type ProcessLock } from '../service/process-lock.ts';
import { SyncError, type SyncErrorCode } from './sync-error.ts';

/** Takes the lock of a state file or data directory; throws `SyncError`: `busy` saying who holds it, or `state-file` saying why there is none. */
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

/** A lock's holder in words. */
function describe(holder: LockHolder | null): string {
  if (holder === null) return '';
  return ` ("${holder.command}", process ${holder.pid} on ${holder.host}, since ${holder.since})`;
}
