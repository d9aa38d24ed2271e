import { createHash } from 'node:crypto';
import type { LoadedConfig } from '../config/load-config.ts';
import { renderProblem } from '../config/problem.ts';
import { requirePlatform } from '../config/require-platform.ts';
import { resolveSecret } from '../config/secrets.ts';
import type { Clock } from '../domain/clock.ts';
import type { Emulator } from '../emulator/emulator.ts';
import { PlatformFiles } from '../platform/files.ts';
import { identityHeaders } from '../platform/identity-headers.ts';
import type { GlobalOptions } from './global-options.ts';
import { openHttp } from './open-http.ts';
import { UsageError } from './usage-error.ts';

/** A way to the platform, or to the emulator in its place. */
export interface Connection {
  readonly platform: PlatformFiles;
  /** What plays the platform, if something does. */
  readonly emulator: Emulator | null;
  /** How long the platform has asked us to wait from now, milliseconds. */
  readonly pausedForMs: () => number;
  /** Sends nothing for so many milliseconds from now. */
  readonly pause: (ms: number) => void;
  /** Equal for connections that are made from the same addresses, secrets and settings. */
  readonly fingerprint: string;
  /** No request waits for its turn any more: what was not begun need not be waited for by a stop. */
  readonly endWaits: () => void;
  readonly close: () => Promise<void>;
}

/** Connects a command to the platform its options and config name. Throws `UsageError`. */
export async function connect(
  options: GlobalOptions,
  loaded: LoadedConfig,
  clock: Clock,
  warn: (message: string) => void,
  longestPauseMs = loaded.config.upload.giveUpAfterMs,
): Promise<Connection> {
  const { config } = loaded;
  const http = openHttp(config, !options.emulator, clock, longestPauseMs);
  const pacing = {
    pausedForMs: () => http.pacer.pausedForMs,
    pause: (ms: number) => {
      http.pacer.pause(ms);
    },
    endWaits: () => {
      http.pacer.endWaits();
    },
  };
  const headers = identityHeaders(config.platform.identity);
  if (!options.emulator) {
    const token = platformToken(loaded, warn);
    const caller = { token, identityHeaders: headers };
    return {
      platform: new PlatformFiles(http, config.platform.baseUrl, caller),
      emulator: null,
      ...pacing,
      fingerprint: fingerprintOf(config.platform.baseUrl, caller, config.upload, longestPauseMs),
      close: () => http.close(),
    };
  }
  const { startEmbedded } = await import('./embedded-emulator.ts');
  const embedded = await startEmbedded(config, 'sync --emulator');
  const caller = { token: embedded.emulator.token, identityHeaders: headers };
  return {
    platform: new PlatformFiles(http, embedded.emulator.baseUrl, caller),
    emulator: embedded.emulator,
    ...pacing,
    fingerprint: fingerprintOf(embedded.emulator.baseUrl, caller, config.upload, longestPauseMs),
    close: async () => {
      try {
        await http.close();
      } finally {
        await embedded.close();
      }
    },
  };
}

/** A hash, so that the secret is in no other place. */
function fingerprintOf(...made: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(made)).digest('hex');
}

function platformToken(loaded: LoadedConfig, warn: (message: string) => void): string {
  const problems = requirePlatform(loaded, 'files');
  const { token } = loaded.config.platform;
  if (problems.length > 0 || token === null) throw new UsageError(problems.map(renderProblem).join('\n'));
  const resolved = resolveSecret(token, process.env);
  if (resolved.kind === 'problem')
    throw new UsageError(`${loaded.file}: platform.token: ${resolved.message}`);
  resolved.warnings.forEach(warn);
  return resolved.value;
}
