import type { Config } from '../../config/config.ts';
import type { Clock } from '../../domain/clock.ts';
import { proxiesOf } from '../../platform/dispatcher.ts';
import { Http } from '../../platform/http.ts';
import { Pacer, type CountedAnswer } from '../../platform/pacer.ts';
import type { PlatformGate } from '../../platform/platform-gate.ts';
import { mostTransfers } from '../../sync/pass/transfers.ts';
import { partsOf, SyncError } from '../sync-error.ts';

/** What paces requests beside the config. */
export interface Pace {
  /** A longer pause that the platform asks for is not waited for, milliseconds. */
  readonly longestPauseMs: number;
  /** Told of every answer of the platform. */
  readonly onAnswer?: ((answer: CountedAnswer) => void) | undefined;
  /** What requests to the platform pass, where others pass it as well. */
  readonly platformGate?: PlatformGate | undefined;
}

/**
 * Connections as the config's `upload` wants them.
 *
 * @param proxyEnvironment - whose proxy variables are obeyed; `null`: no proxy is used.
 */
export function openHttp(
  { upload }: Pick<Config, 'upload'>,
  proxyEnvironment: NodeJS.ProcessEnv | null,
  clock: Clock,
  { longestPauseMs, onAnswer, platformGate }: Pace,
): Http {
  checkProxies(proxyEnvironment);
  const { concurrency, stallTimeoutMs, maxBytesPerSecond, maxRequestsPerSecond } = upload;
  const pacer = new Pacer(
    { maxBytesPerSecond, maxRequestsPerSecond, longestPauseMs },
    clock,
    onAnswer,
    platformGate,
  );
  const connections = mostTransfers(concurrency);
  return new Http({ connections, stallTimeoutMs, proxyEnvironment }, pacer, clock);
}

/** A proxy's address that is none is a mistake of the user, and not one that time corrects. Throws `SyncError`. */
function checkProxies(environment: NodeJS.ProcessEnv | null): void {
  if (environment === null) return;
  try {
    proxiesOf(environment);
  } catch (error) {
    const { message } = error as Error;
    throw new SyncError('configuration', { ...partsOf(message), message });
  }
}
