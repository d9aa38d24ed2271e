import { createHash } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Fence } from '../../domain/lease.ts';
import type { Emulator } from '../../emulator/emulator.ts';
import type { RequestRetries } from '../../platform/requester.ts';
import { Http } from '../../platform/http.ts';
import { type CountedAnswer, Pacer } from '../../platform/pacer.ts';
import { textOf, type Log, type StyledLog, retryWords } from '../../service/logger.ts';
import { createClients, type Clients } from './clients.ts';
import { Credentials } from './credentials.ts';
import { proxiesOf } from '../../platform/dispatcher.ts';
import { mostTransfers } from '../../sync/pass/transfers.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { RunBase } from '../run-base.ts';
import { SyncError, partsOf } from '../sync-error.ts';

/** Messages time out sooner than files: nobody waits for them, and they are retried. */
const MESSAGE_PATIENCE = { attempts: 3, giveUpAfterMs: 30_000, stallTimeoutMs: 10_000 };

export interface Notices {
  readonly warn: (message: string) => void;
  readonly retrying: (reason: string, delayMs: number) => void;
}

interface AccessInput {
  readonly loaded: LoadedConfig;
  /** Replaces the platform; `null`: the platform itself. */
  readonly emulator: Emulator | null;
  /** Contains secrets and proxies. */
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly notices: Notices;
  /** Longer pauses that the platform asks for fail instead of waiting, milliseconds; default: `upload.giveUpAfter`. */
  readonly longestPauseMs?: number;
  /** Called for every answer of the platform, except to messages. */
  readonly onAnswer?: (answer: CountedAnswer) => void;
}

/**
 * The access to the platform, or the emulator, under one configuration. All its clients share connections, which open
 * with the first request.
 */
export class PlatformAccess {
  readonly clients: Clients;
  readonly credentials: Credentials;
  readonly #input: AccessInput;
  readonly #longestPauseMs: number;
  readonly #retries: RequestRetries;
  readonly #http: Http;

  /** Throws `SyncError` for an invalid proxy address. `credentials`: already read ones. */
  constructor(input: AccessInput, credentials?: Credentials) {
    const { loaded, emulator, env, clock, notices, onAnswer } = input;
    const { config } = loaded;
    const { attempts, giveUpAfterMs } = config.upload;
    this.#input = input;
    this.#longestPauseMs = input.longestPauseMs ?? giveUpAfterMs;
    const proxyEnvironment = emulator === null ? env : null;
    this.#http = openHttp(config, proxyEnvironment, clock, this.#longestPauseMs, onAnswer);
    this.credentials = credentials ?? new Credentials(loaded, emulator, env, notices.warn);
    this.#retries = { attempts, giveUpAfterMs, random: Math.random, onRetry: notices.retrying };
    this.clients = createClients(config, this.credentials, this.#http, this.#retries);
  }

  /** Creates clients on the same connections whose requests a fence may block. */
  clientsUnder(fence: Fence): Clients {
    return createClients(this.#input.loaded.config, this.credentials, this.#http.under(fence), this.#retries);
  }

  /**
   * Creates an access for messages, with short timeouts and connections of its own: a pause that the chat asks for must
   * not delay files. The caller closes it.
   */
  forMessages(retrying: Notices['retrying']): PlatformAccess {
    const { loaded, notices } = this.#input;
    const config = withMessagePatience(loaded.config);
    const own = {
      loaded: { ...loaded, config },
      notices: { ...notices, retrying },
      onAnswer: () => undefined,
    };
    return new PlatformAccess({ ...this.#input, ...own }, this.credentials);
  }

  /**
   * Equal for accesses with the same token and the same settings of platform and transfers. A hash, so that the token
   * is not stored elsewhere. Throws `SyncError` without a token.
   */
  get fingerprint(): string {
    const { platform, upload } = this.#input.loaded.config;
    const made = [platform, [...this.credentials.sourceTokens()], upload, this.#longestPauseMs];
    return createHash('sha256').update(JSON.stringify(made)).digest('hex');
  }

  /** Returns the remaining pause, milliseconds. */
  pausedForMs(): number {
    return this.#http.pacer.pausedForMs;
  }

  /**
   * Returns the rest of a pause that the platform asked this process for, milliseconds: it applies to other hosts as
   * well.
   */
  askedForMs(): number {
    return this.#http.pacer.askedForMs;
  }

  /** Pauses all requests for `ms` from now. */
  pause(ms: number): void {
    this.#http.pacer.pause(ms);
  }

  /** Ends the waits for a turn: a stop need not wait for requests that were not begun. */
  endWaits(): void {
    this.#http.pacer.endWaits();
  }

  /** Closes the connections; running requests are cut off. */
  async close(): Promise<void> {
    await this.#http.close();
  }
}

export interface PlatformHost {
  /** `null`: the platform itself. */
  readonly emulator: Emulator | null;
  readonly close: () => Promise<void>;
}

/**
 * Starts the emulator if `useEmulator`. Throws `SyncError`, with code `busy` if its data is in use.
 *
 * @param command - shown to other processes that find the emulator locked.
 */
export async function openHost(useEmulator: boolean, config: Config, command: string): Promise<PlatformHost> {
  if (!useEmulator) return { emulator: null, close: () => Promise.resolve() };
  const { startEmbedded } = await import('./embedded-emulator.ts');
  return await startEmbedded(config, `${command} --emulator`);
}

interface PlatformRun extends Omit<AccessInput, 'emulator' | 'clock'> {
  readonly useEmulator: boolean;
  readonly command: string;
}

/** Runs a task with access to the platform. Throws `SyncError`. */
export async function withPlatform<T>(
  { useEmulator, command, ...input }: PlatformRun,
  task: (access: PlatformAccess) => Promise<T>,
): Promise<T> {
  const host = await openHost(useEmulator, input.loaded.config, command);
  try {
    const access = new PlatformAccess({ ...input, clock: systemClock, emulator: host.emulator });
    try {
      return await task(access);
    } finally {
      await access.close();
    }
  } finally {
    await host.close();
  }
}

/** Runs a task of a run with access to the platform, whose waits for a turn end at a stop. Throws `SyncError`. */
export async function withAccess<T>(
  { target, env, log }: Pick<RunBase, 'target' | 'env' | 'log'>,
  loaded: LoadedConfig,
  { command, stop, onAnswer }: AccessUse,
  task: (access: PlatformAccess) => Promise<T>,
): Promise<T> {
  const run = { loaded, useEmulator: target.emulator, env, command, notices: noticesIn(log) };
  return await withPlatform({ ...run, ...(onAnswer !== undefined && { onAnswer }) }, (access) => {
    stop.addEventListener('abort', () => {
      access.endWaits();
    });
    return task(access);
  });
}

interface AccessUse extends Pick<AccessInput, 'onAnswer'> {
  readonly command: string;
  readonly stop: AbortSignal;
}

/** Creates notices that go to a command's log. */
export function noticesIn(log: Log & Partial<Pick<StyledLog, 'say'>>): Notices {
  return {
    warn: (message) => {
      log.warn(message);
    },
    retrying: (reason, delayMs) => {
      const fields = { reason, delayMs: Math.round(delayMs) };
      const words = retryWords('', reason, delayMs);
      if (log.say === undefined) log.warn(textOf(words), fields);
      else log.say('warn', words, fields);
    },
  };
}

function withMessagePatience(config: Config): Config {
  const { upload } = config;
  const { attempts, giveUpAfterMs, stallTimeoutMs } = MESSAGE_PATIENCE;
  return {
    ...config,
    upload: {
      ...upload,
      concurrency: 1,
      attempts: Math.min(upload.attempts, attempts),
      giveUpAfterMs: Math.min(upload.giveUpAfterMs, giveUpAfterMs),
      stallTimeoutMs: Math.min(upload.stallTimeoutMs, stallTimeoutMs),
      maxBytesPerSecond: null,
      maxRequestsPerSecond: null,
    },
  };
}

/**
 * Opens connections with the settings of `upload`.
 *
 * @param proxyEnvironment - contains the proxy variables; `null`: no proxy.
 */
function openHttp(
  { upload }: Pick<Config, 'upload'>,
  proxyEnvironment: NodeJS.ProcessEnv | null,
  clock: Clock,
  longestPauseMs: number,
  onAnswer: AccessInput['onAnswer'],
): Http {
  checkProxies(proxyEnvironment);
  const { concurrency, stallTimeoutMs, maxBytesPerSecond, maxRequestsPerSecond } = upload;
  const pacer = new Pacer({ maxBytesPerSecond, maxRequestsPerSecond, longestPauseMs }, clock, onAnswer);
  const connections = mostTransfers(concurrency);
  return new Http({ connections, stallTimeoutMs, proxyEnvironment }, pacer, clock);
}

/** Throws `SyncError` for an invalid proxy address: it is a user error that no retry fixes. */
function checkProxies(environment: NodeJS.ProcessEnv | null): void {
  if (environment === null) return;
  try {
    proxiesOf(environment);
  } catch (error) {
    const { message } = error as Error;
    throw new SyncError('configuration', { ...partsOf(message), message });
  }
}
