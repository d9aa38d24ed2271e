import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '../domain/clock.ts';
import { failed, ok, type Outcome, type PlatformFailure } from '../domain/failure.ts';
import { connectionFailure, type Answer } from './failures.ts';
import type { Pacer } from './pacer.ts';

/** A longer answer is a failure: the longest that is expected repeats an upsert of 1 MB, every character escaped. */
const LARGEST_ANSWER_BYTES = 8_000_000;

/** How connections are made. */
export interface ConnectionSettings {
  /** Most connections to one host at a time. */
  readonly concurrency: number;
  /** An answer that shows no progress for so long is given up, milliseconds. */
  readonly stallTimeoutMs: number;
  /** A longer pause than this is not waited for, milliseconds: requests fail at once until it is over. */
  readonly longestPauseMs: number;
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
  #dispatcher: Dispatcher | Promise<Dispatcher> | null = null;

  constructor(settings: ConnectionSettings, pacer: Pacer, clock: Clock) {
    this.#settings = settings;
    this.pacer = pacer;
    this.clock = clock;
  }

  /** Waits for its turn, sends, and reads the answer. Redirects are not followed. Any status is an answer. */
  async send(request: HttpRequest, signal: AbortSignal): Promise<Outcome<Answer>> {
    const { pausedForMs } = this.pacer;
    if (pausedForMs > this.#settings.longestPauseMs) {
      const message = `the platform asked for a pause that lasts ${Math.round(pausedForMs / 1000)} s more, which is too long to wait for now`;
      return failed({ kind: 'transient', message, notCarriedOut: true, postponed: true });
    }
    const turn = this.pacer.turn(signal);
    if (turn !== null) await turn;
    const interrupted = abortFailure(signal);
    if (interrupted !== null) return failed(interrupted);
    try {
      this.#dispatcher ??= createDispatcher(this.#settings);
      if (this.#dispatcher instanceof Promise) this.#dispatcher = await this.#made(this.#dispatcher);
      const deadlineMs = isPaced(request) ? null : this.#settings.stallTimeoutMs * 2;
      return ok(await exchange(this.#dispatcher, request, deadlineMs, signal));
    } catch (error) {
      return failed(abortFailure(signal) ?? connectionFailure(error));
    }
  }

  async #made(dispatcher: Promise<Dispatcher>): Promise<Dispatcher> {
    try {
      return await dispatcher;
    } catch (error) {
      // Where no descriptor is free nothing can be loaded; there may be one next time.
      this.#dispatcher = null;
      throw error;
    }
  }

  /** Closes the connections; what is under way is broken off. */
  async close(): Promise<void> {
    const made = this.#dispatcher;
    await (made instanceof Promise ? await made.catch(() => null) : made)?.destroy();
  }
}

/** Whether a body takes as long as the disk or our own limits let it. */
function isPaced({ body }: HttpRequest): boolean {
  return body !== null && typeof body === 'object' && !Buffer.isBuffer(body);
}

/**
 * One request and its answer, by undici's lowest interface: for many small files the streams that the others make of
 * every answer cost more than the files.
 */
function exchange(
  dispatcher: Dispatcher,
  request: HttpRequest,
  deadlineMs: number | null,
  signal: AbortSignal,
): Promise<Answer> {
  const { url } = request;
  return new Promise((resolve, reject) => {
    let status = 0;
    let headers: Answer['headers'] = {};
    const chunks: Buffer[] = [];
    let controller: Dispatcher.DispatchController | null = null;
    // Also while the request still waits for a connection: then it is dropped as soon as it would begin.
    const abort = (): void => {
      const interruption = new Error('interrupted');
      controller?.abort(interruption);
      reject(interruption);
    };
    // An answer that comes a byte at a time shows progress for ever.
    let deadline: NodeJS.Timeout | null = null;
    const release = (): void => {
      if (deadline !== null) clearTimeout(deadline);
      signal.removeEventListener('abort', abort);
    };
    signal.addEventListener('abort', abort);
    dispatcher.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: request.headers,
        body: request.body as Buffer | string | Readable | null, // undici takes any async iterable
        ...(request.headersTimeoutMs !== undefined && { headersTimeout: request.headersTimeoutMs }),
      },
      {
        onRequestStart: (started) => {
          controller = started;
          if (deadlineMs !== null) {
            deadline = setTimeout(() => {
              started.abort(Object.assign(new Error('too slow'), { code: 'UND_ERR_BODY_TIMEOUT' }));
            }, deadlineMs);
          }
          if (signal.aborted) abort();
        },
        onResponseStart: (_controller, statusCode, responseHeaders) => {
          status = statusCode;
          headers = responseHeaders;
        },
        onResponseData: (_controller, chunk) => {
          chunks.push(chunk);
        },
        onResponseEnd: () => {
          release();
          resolve({ status, headers, text: textOf(chunks) });
        },
        onResponseError: (_controller, error) => {
          release();
          reject(error);
        },
      },
    );
  });
}

function textOf(chunks: readonly Buffer[]): string {
  const [first] = chunks;
  if (first === undefined) return '';
  return (chunks.length === 1 ? first : Buffer.concat(chunks)).toString('utf8');
}

/** undici is loaded when something is sent for the first time: a pass that finds nothing to do never needs it. */
async function createDispatcher(settings: ConnectionSettings): Promise<Dispatcher> {
  const { Agent, EnvHttpProxyAgent, Pool } = (await import('undici')).default;
  const options = {
    connections: settings.concurrency,
    headersTimeout: settings.stallTimeoutMs,
    bodyTimeout: settings.stallTimeoutMs,
    maxResponseSize: LARGEST_ANSWER_BYTES,
    connect: { timeout: Math.min(settings.stallTimeoutMs, 10_000) },
  };
  const proxies = settings.useProxy ? PROXY_VARIABLES.filter((name) => process.env[name]) : [];
  const wrong = proxies.find((name) => !URL.canParse(process.env[name] ?? ''));
  if (wrong !== undefined) throw new Error(`$${wrong} is no address; write it as http://HOST:PORT`);
  return proxies.length > 0
    ? new EnvHttpProxyAgent({
        ...options,
        // A proxy that does not answer is given up like anybody else.
        clientFactory: (origin, own) => new Pool(origin, { ...own, headersTimeout: settings.stallTimeoutMs }),
      })
    : new Agent(options);
}

const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/** Whoever aborts may say why: `abort('no progress …')`. */
function abortFailure(signal: AbortSignal): PlatformFailure | null {
  if (!signal.aborted) return null;
  return { kind: 'transient', message: typeof signal.reason === 'string' ? signal.reason : 'interrupted' };
}
