import type { Config } from '../../config/config.ts';
import type { Clock } from '../../domain/clock.ts';
import { proxiesOf } from '../../platform/dispatcher.ts';
import { Http } from '../../platform/http.ts';
import { Pacer } from '../../platform/pacer.ts';
import { mostTransfers } from '../../sync/pass/transfers.ts';
import { partsOf, SyncError } from '../sync-error.ts';

/**
 * Connections as the config's `upload` wants them.
 *
 * @param useProxy - whether the proxy variables are obeyed.
 * @param longestPauseMs - a longer pause that the platform asks for is not waited for.
 */
export function openHttp(
  { upload }: Pick<Config, 'upload'>,
  useProxy: boolean,
  clock: Clock,
  longestPauseMs = upload.giveUpAfterMs,
): Http {
  checkProxies(useProxy);
  const { concurrency, stallTimeoutMs, maxBytesPerSecond, maxRequestsPerSecond } = upload;
  const pacer = new Pacer({ maxBytesPerSecond, maxRequestsPerSecond, longestPauseMs }, clock);
  const connections = mostTransfers(concurrency);
  return new Http({ connections, stallTimeoutMs, useProxy }, pacer, clock);
}

/** A proxy's address that is none is a mistake of the user, and not one that time corrects. Throws `SyncError`. */
function checkProxies(useProxy: boolean): void {
  if (!useProxy) return;
  try {
    proxiesOf(process.env);
  } catch (error) {
    const { message } = error as Error;
    throw new SyncError('configuration', { ...partsOf(message), message });
  }
}
