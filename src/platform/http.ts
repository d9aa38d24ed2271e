import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '../domain/clock.ts';
import { failed, ok, type Outcome, type PlatformFailure } from '../domain/failure.ts';
import { connectionFailure, type Answer } from './failures.ts';
import type { Pacer } from './pacer.ts';

/** Longer answers are cut: nothing that is asked for here is longer. */
const LARGEST_ANSWER_BYTES = 1_000_000;

/** How connections are made. */
export interface ConnectionSettings {
  /** Most connections to one host at a time. */
  readonly concurrency: number;
  /** An answer that shows no progress for so long is given up, milliseconds. */
  readonly stallTimeoutMs: number;
  /** Whether `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are obeyed. */
  readonly useProxy: boolean;
}

/** One request. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string | AsyncIterable<Buffer> | null;
  /** Instead of the connection's stall timeout; 0: the caller watches the progress itself. */
  readonly headersTimeoutMs?: number;
}

/** The connections to the platform and its store: kept open, paced together. Requests are sent once; retrying is the caller's. */
export class Http {
  readonly pacer: Pacer;
  readonly clock: Clock;
  readonly #settings: ConnectionSettings;
  #dispatcher: Promise<Dispatcher> | null = null;

  constructor(settings: ConnectionSettings, pacer: Pacer, clock: Clock) {
    this.#settings = settings;
    this.pacer = pacer;
    this.clock = clock;
  }

  /** Waits for its turn, sends, and reads the answer. Redirects are not followed. Any status is an answer. */
  async send(request: HttpRequest, signal: AbortSignal): Promise<Outcome<Answer>> {
    await this.pacer.turn(signal);
    const interrupted = abortFailure(signal);
    if (interrupted !== null) return failed(interrupted);
    try {
      this.#dispatcher ??= createDispatcher(this.#settings);
      const dispatcher = await this.#dispatcher;
      const { url } = request;
      const response = await dispatcher.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: request.headers,
        body: request.body as Buffer | string | Readable | null, // undici takes any async iterable
        signal,
        ...(request.headersTimeoutMs !== undefined && { headersTimeout: request.headersTimeoutMs }),
      });
      return ok({
        status: response.statusCode,
        headers: response.headers,
        text: await readText(response.body),
      });
    } catch (error) {
      return failed(abortFailure(signal) ?? connectionFailure(error));
    }
  }

  /** Closes the connections; what is under way is broken off. */
  async close(): Promise<void> {
    await (await this.#dispatcher)?.destroy();
  }
}

/** undici is loaded when something is sent for the first time: a pass that finds nothing to do never needs it. */
async function createDispatcher(settings: ConnectionSettings): Promise<Dispatcher> {
  const { Agent, EnvHttpProxyAgent } = await import('undici');
  const options = {
    connections: settings.concurrency,
    headersTimeout: settings.stallTimeoutMs,
    bodyTimeout: settings.stallTimeoutMs,
    connect: { timeout: Math.min(settings.stallTimeoutMs, 10_000) },
  };
  return settings.useProxy && PROXY_VARIABLES.some((name) => process.env[name])
    ? new EnvHttpProxyAgent(options)
    : new Agent(options);
}

const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

async function readText(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > LARGEST_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Whoever aborts may say why: `abort('no progress …')`. */
function abortFailure(signal: AbortSignal): PlatformFailure | null {
  if (!signal.aborted) return null;
  return { kind: 'transient', message: typeof signal.reason === 'string' ? signal.reason : 'interrupted' };
}
