import { EXIT } from '../domain/exit-code.ts';
import { acquireLock, type LockHolder, type ProcessLock } from '../service/process-lock.ts';
import { UsageError } from './usage-error.ts';

/** Takes the lock of a state file or data directory; throws `UsageError` (exit 6) saying who holds it, or (exit 2) why there is none. */
export function holdLock(subject: string, what: string, command: string): ProcessLock {
  const attempt = acquireLock(subject, command, new Date());
  switch (attempt.kind) {
    case 'held':
      return attempt.lock;
    case 'busy':
      throw new UsageError(
        `${what} ${subject} is held by another botsync${describe(attempt.holder)}; wait for it, or stop it`,
        EXIT.busy,
      );
    case 'unusable':
      throw new UsageError(`${what} ${subject} cannot be locked: ${attempt.reason}; ${attempt.fix}`);
  }
}

/** A lock's holder in words. */
function describe(holder: LockHolder | null): string {
  if (holder === null) return '';
  return ` ("${holder.command}", process ${holder.pid} on ${holder.host}, since ${holder.since})`;
}
