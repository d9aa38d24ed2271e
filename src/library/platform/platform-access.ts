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
import { SyncError, partsOf } from '../sync-error.ts';

/** Messages are given up sooner than files: nobody waits for them, and they are retried. */
const MESSAGE_PATIENCE = { attempts: 3, giveUpAfterMs: 30_000, stallTimeoutMs: 10_000 };

/** What is told beside the results. */
export interface Notices {
  readonly warn: (message: string) => void;
  readonly retrying: (reason: string, delayMs: number) => void;
}

/** What a way to the platform is made of. */
export interface AccessInput {
  readonly loaded: LoadedConfig;
  /** In the platform's place; `null`: the platform itself. */
  readonly emulator: Emulator | null;
  /** Where secrets and proxies are named. */
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly notices: Notices;
  /** A longer pause that the platform asks for is not waited for, milliseconds; `upload.giveUpAfter` unless given. */
  readonly longestPauseMs?: number;
  /** Told of every answer of the platform, but for those to messages. */
  readonly onAnswer?: (answer: CountedAnswer) => void;
}

/**
 * The way to the platform under one configuration, or to the emulator in its place: every command has its clients from
 * here. Its connections are opened with the first request and shared by all clients.
 */
export class PlatformAccess {
  readonly clients: Clients;
  readonly credentials: Credentials;
  readonly #input: AccessInput;
  readonly #longestPauseMs: number;
  readonly #retries: RequestRetries;
  readonly #http: Http;

  /** Throws `SyncError` for a proxy's address that is none. `credentials`: those that were read already. */
  constructor(input: AccessInput, credentials?: Credentials) {
    const { loaded, emulator, env, clock, notices, onAnswer } = input;
    const { config } = loaded;
    const { attempts, giveUpAfterMs } = config.upload;
    this.#input = input;
    this.#longestPauseMs = input.longestPauseMs ?? giveUpAfterMs;
    const proxyEnvironment = emulator === null ? env : null;
    this.#http = openHttp(config, proxyEnvironment, clock, {
      longestPauseMs: this.#longestPauseMs,
      onAnswer,
    });
    this.credentials = credentials ?? new Credentials(loaded, emulator, env, notices.warn);
    this.#retries = { attempts, giveUpAfterMs, random: Math.random, onRetry: notices.retrying };
    this.clients = createClients(config, this.credentials, this.#http, this.#retries);
  }

  /** Clients over the same connections whose requests a fence may keep. */
  clientsUnder(fence: Fence): Clients {
    return createClients(this.#input.loaded.config, this.credentials, this.#http.under(fence), this.#retries);
  }

  /**
   * The same for messages: little patience, and connections of its own, since a pause that the chat asks for holds up no
   * file. It is closed by itself.
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
   * Equal for ways with the same token and the same settings of platform and transfers. A hash, so that the token is in no
   * other place. Throws `SyncError` when there is no token.
   */
  get fingerprint(): string {
    const { platform, upload } = this.#input.loaded.config;
    const made = [platform, this.credentials.token(), upload, this.#longestPauseMs];
    return createHash('sha256').update(JSON.stringify(made)).digest('hex');
  }

  /** How long the platform has asked us to wait from now, milliseconds. */
  pausedForMs(): number {
    return this.#http.pacer.pausedForMs;
  }

  /** What is left of a pause that the platform asked this process for, milliseconds: it holds for other hosts as well. */
  askedForMs(): number {
    return this.#http.pacer.askedForMs;
  }

  /** Sends nothing for so many milliseconds from now. */
  pause(ms: number): void {
    this.#http.pacer.pause(ms);
  }

  /** No request waits for its turn any more: what was not begun need not be waited for by a stop. */
  endWaits(): void {
    this.#http.pacer.endWaits();
  }

  /** Closes the connections; what is running is broken off. */
  async close(): Promise<void> {
    await this.#http.close();
  }
}

/** What plays the platform while a command runs. */
export interface PlatformHost {
  /** `null`: the platform itself. */
  readonly emulator: Emulator | null;
  readonly close: () => Promise<void>;
}

/**
 * Starts the emulator where the options ask for it. Throws `SyncError`, `busy` when its data is in use.
 *
 * @param command - for another process that meets the emulator's lock.
 */
export async function openHost(useEmulator: boolean, config: Config, command: string): Promise<PlatformHost> {
  if (!useEmulator) return { emulator: null, close: () => Promise.resolve() };
  const { startEmbedded } = await import('./embedded-emulator.ts');
  return await startEmbedded(config, `${command} --emulator`);
}

/** A command that goes to the platform. */
export interface PlatformRun extends Omit<AccessInput, 'emulator'> {
  readonly useEmulator: boolean;
  /** Its name. */
  readonly command: string;
}

/** Opens the way to the platform for a task, and closes it afterwards. Throws `SyncError`. */
export async function withPlatform<T>(
  { useEmulator, command, ...input }: PlatformRun,
  task: (access: PlatformAccess) => Promise<T>,
): Promise<T> {
  const host = await openHost(useEmulator, input.loaded.config, command);
  try {
    const access = new PlatformAccess({ ...input, emulator: host.emulator });
    try {
      return await task(access);
    } finally {
      await access.close();
    }
  } finally {
    await host.close();
  }
}

/** Tells of it in a command's log. */
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

/** What paces requests beside the config. */
export interface Pace {
  /** A longer pause that the platform asks for is not waited for, milliseconds. */
  readonly longestPauseMs: number;
  /** Told of every answer of the platform. */
  readonly onAnswer?: ((answer: CountedAnswer) => void) | undefined;
}

/**
 * Connections as the config's `upload` wants them.
 *
 * @param proxyEnvironment - whose proxy variables are obeyed; `null`: no proxy is used.
 */
function openHttp(
  { upload }: Pick<Config, 'upload'>,
  proxyEnvironment: NodeJS.ProcessEnv | null,
  clock: Clock,
  { longestPauseMs, onAnswer }: Pace,
): Http {
  checkProxies(proxyEnvironment);
  const { concurrency, stallTimeoutMs, maxBytesPerSecond, maxRequestsPerSecond } = upload;
  const pacer = new Pacer({ maxBytesPerSecond, maxRequestsPerSecond, longestPauseMs }, clock, onAnswer);
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
