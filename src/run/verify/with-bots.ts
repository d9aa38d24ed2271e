import { systemClock } from '../../service/system-clock.ts';
import type { CountedAnswer } from '../../platform/pacer.ts';
import { noticesIn, withPlatform, type PlatformAccess } from '../platform/platform-access.ts';
import type { VerifyRun } from './compare.ts';
import type { StateReader } from '../../store/state-reader.ts';
import type { ServiceMemory } from '../../sync/catalog/served-catalog.ts';

/** Runs a task with access to the platform, whose waits end at a stop. Throws `SyncError`. */
export async function withBots<T>(
  { target, env, log, loaded, stop }: Pick<VerifyRun, 'target' | 'env' | 'log' | 'loaded' | 'stop'>,
  command: string,
  task: (access: PlatformAccess) => Promise<T>,
  onAnswer: (answer: CountedAnswer) => void = () => undefined,
): Promise<T> {
  const notices = noticesIn(log);
  const run = { loaded, useEmulator: target.emulator, env, command, clock: systemClock, notices };
  return await withPlatform({ ...run, onAnswer }, (access) => {
    stop.stop.addEventListener('abort', () => {
      access.endWaits();
    });
    return task(access);
  });
}

/**
 * Creates a memory of unserved operations that reads the state file, and keeps its own notes only until the command
 * ends.
 */
export function memoryOf({ remote }: StateReader): ServiceMemory {
  const noted = new Map<string, ReturnType<ServiceMemory['unserved']>>();
  return {
    unserved: (target, operation) => {
      const own = noted.get(`${target} ${operation}`);
      return own === undefined ? remote.unserved(target, operation) : own;
    },
    noteUnserved: (target, operation, unserved) => noted.set(`${target} ${operation}`, unserved),
    noteServed: (target, operation) => noted.set(`${target} ${operation}`, null),
  };
}
