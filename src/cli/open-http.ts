import type { Config } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import { Http } from '../platform/http.ts';
import { Pacer } from '../platform/pacer.ts';

/** Connections as the config's `upload` wants them. `useProxy`: whether the proxy variables are obeyed. */
export function openHttp({ upload }: Pick<Config, 'upload'>, useProxy: boolean, clock: Clock): Http {
  const { concurrency, stallTimeoutMs, giveUpAfterMs, maxBytesPerSecond, maxRequestsPerSecond } = upload;
  const pacer = new Pacer({ maxBytesPerSecond, maxRequestsPerSecond }, clock);
  return new Http({ concurrency, stallTimeoutMs, longestPauseMs: giveUpAfterMs, useProxy }, pacer, clock);
}
