import { setMaxListeners } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import type { FileKey } from '../../src/domain/key.ts';
import type { Outcome, PlatformFailure } from '../../src/domain/failure.ts';
import type { UpsertBody } from '../../src/domain/limits.ts';
import { PlatformFiles } from '../../src/platform/files.ts';
import { Http } from '../../src/platform/http.ts';
import { Pacer, type PaceLimits } from '../../src/platform/pacer.ts';
import { TEST_ONLY_IDENTITY } from '../tls/identity.ts';

/** The moment every simulated clock begins at: ten seconds into a minute. */
export const START = Date.parse('2026-03-01T12:00:10.500Z');

/** A signal that nobody aborts. */
export const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

/** Time that passes only while somebody sleeps, and then at once; whoever wakes first is woken first. */
export class SimulatedClock implements Clock {
  /** Every delay that was asked for, milliseconds. */
  readonly slept: number[] = [];
  /** What our wall clock is off by. */
  wallOffsetMs = 0;
  #elapsedMs = 0;
  #sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];

  readonly now = (): number => Math.floor(START + this.#elapsedMs + this.wallOffsetMs);
  readonly monotonic = (): number => this.#elapsedMs;

  readonly sleep = (ms: number, signal: AbortSignal): Promise<void> => {
    this.slept.push(ms);
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { atMs: this.#elapsedMs + Math.max(0, ms), wake };
      this.#sleepers.push(sleeper);
      signal.addEventListener('abort', wake);
      setImmediate(() => {
        this.#wakeFirst();
      });
    });
  };

  /** Lets time pass without anybody sleeping. */
  advance(ms: number): void {
    this.#elapsedMs += ms;
  }

  #wakeFirst(): void {
    const first = this.#sleepers.sort((a, b) => a.atMs - b.atMs)[0];
    if (first === undefined) return;
    this.#elapsedMs = Math.max(this.#elapsedMs, first.atMs);
    first.wake();
  }
}

/** A clock whose sleep only an abort ends. */
export function sleepless({ now, monotonic }: Clock): Clock {
  const sleep = (_ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        resolve();
      });
    });
  return { now, monotonic, sleep };
}

/** A server of the test's own, for what the emulator does not play. */
export interface TestServer {
  /** Without a trailing slash. */
  readonly url: string;
  /** Connections that were made so far. */
  readonly connections: () => number;
}

/** Starts a server on a free port; it ends with the test. */
export async function serve(listener: RequestListener): Promise<TestServer> {
  const { close, ...server } = await listen(listener);
  onTestFinished(close);
  return server;
}

/** Starts a server on a free port. Nobody knows the authority behind its certificate for `https`. */
export async function listen(
  listener: RequestListener,
  protocol: 'http' | 'https' = 'http',
): Promise<TestServer & { readonly close: () => Promise<void> }> {
  let connections = 0;
  const server =
    protocol === 'https' ? createTlsServer(TEST_ONLY_IDENTITY, listener) : createServer(listener);
  server.on('connection', () => {
    connections += 1;
  });
  const port = await listenOnFreePort(server);
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => {
        resolve();
      });
      server.closeAllConnections();
    });
  return { url: `${protocol}://127.0.0.1:${port}`, connections: () => connections, close };
}

/** Has a server listen on the loopback address; the port that was free. */
export async function listenOnFreePort(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** An address where nobody listens. */
export async function closedAddress(): Promise<string> {
  const { url, close } = await listen(() => undefined);
  await close();
  return url;
}

/** A request's body. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Answers with JSON. */
export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** What a client is made with; the rest has defaults. */
export interface ClientOptions {
  readonly token?: string;
  readonly identityHeaders?: Readonly<Record<string, string>>;
  readonly concurrency?: number;
  readonly stallTimeoutMs?: number;
  readonly useProxy?: boolean;
  readonly limits?: Partial<PaceLimits>;
  readonly clock?: Clock;
}

/** A client with everything it is made of. */
export interface TestClient {
  readonly platform: PlatformFiles;
  readonly http: Http;
  readonly pacer: Pacer;
}

/** Our client for a platform at an address; its connections end with the test. */
export function connect(baseUrl: string, options: ClientOptions = {}): TestClient {
  const client = makeClient(baseUrl, options);
  onTestFinished(() => client.http.close());
  return client;
}

/** Our client for a platform at an address. */
export function makeClient(baseUrl: string, options: ClientOptions = {}): TestClient {
  const clock = options.clock ?? new SimulatedClock();
  const stallTimeoutMs = options.stallTimeoutMs ?? 20_000;
  const pacer = new Pacer(
    { maxRequestsPerSecond: null, maxBytesPerSecond: null, longestPauseMs: 120_000, ...options.limits },
    clock,
  );
  const http = new Http(
    {
      connections: options.concurrency ?? 8,
      stallTimeoutMs,
      proxyEnvironment: options.useProxy === true ? process.env : null,
    },
    pacer,
    clock,
  );
  const caller = { token: options.token ?? 'a-token', identityHeaders: options.identityHeaders ?? {} };
  return { platform: new PlatformFiles(http, baseUrl, caller), http, pacer };
}

/** An upsert's body. */
export function upsertBody(key: string, sizeBytes: number, more: Partial<UpsertBody> = {}): UpsertBody {
  return {
    key: key as FileKey,
    size: sizeBytes,
    index: false,
    tags: {},
    metadata: {},
    accessPolicies: [],
    contentType: 'text/plain',
    ...more,
  };
}

/** The value of an outcome that has to be one. */
export function valueOf<T>(outcome: Outcome<T>): T {
  if (outcome.kind === 'ok') return outcome.value;
  throw new Error(`failed: ${outcome.failure.message}`);
}

/** The failure of an outcome that has to be one. */
export function failureIn(outcome: Outcome<unknown>): PlatformFailure {
  if (outcome.kind === 'failed') return outcome.failure;
  throw new Error('it did not fail');
}

/** Content in pieces, as a file is read. */
export async function* inChunks(content: Buffer, chunkBytes = 256 * 1024): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += chunkBytes) {
    yield await Promise.resolve(content.subarray(at, at + chunkBytes));
  }
}
