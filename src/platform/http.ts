import type { Dispatcher } from 'undici';
import type { Clock } from '../domain/clock.ts';
import type { Fence } from '../domain/lease.ts';
import { failed, ok, type Outcome, type PlatformFailure } from '../domain/failure.ts';
import { Throughput } from '../domain/throughput.ts';
import { createDispatcher, proxiesOf, type Proxies } from './dispatcher.ts';
import { exchange, KeptBack, type OutgoingRequest } from './exchange.ts';
import { connectionFailure, nameOfProxy } from './connection-failure.ts';
import type { Answer } from './failures.ts';
import type { OpenBody } from './open-body.ts';
import type { Urgency } from './gate.ts';
import type { Pacer, Recipient } from './pacer.ts';
import { ServerClock } from './server-clock.ts';
import { StallMonitor } from './stall-monitor.ts';

export interface ConnectionSettings {
  /** Maximum of concurrent connections to one host. */
  readonly connections: number;
  /** A request in which nothing moves for this long is given up, milliseconds. */
  readonly stallTimeoutMs: number;
  /** The environment with `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; `null`: no proxy is used. */
  readonly proxyEnvironment: NodeJS.ProcessEnv | null;
}

export interface HttpRequest extends OutgoingRequest {
  readonly to: Recipient;
  readonly urgency?: Urgency;
  readonly body: OpenBody;
  /** The field of the configuration with the address; `null`: an address of the store, which the platform named. */
  readonly addressField: string | null;
}

/** `releasedAtMs`: when its request passed the pacer, monotonic milliseconds. */
export interface TimedAnswer extends Answer {
  readonly releasedAtMs: number;
}

/** The state that is shared by requests under different fences. */
interface Shared {
  readonly throughput: Throughput;
  readonly monitor: StallMonitor;
  readonly serverClock: ServerClock;
  proxies: Proxies | null;
  dispatcher: Dispatcher | Promise<Dispatcher> | null;
}

/**
 * The connections to the platform and its store: kept open, paced together. Requests are sent once; retries are up to
 * the caller.
 */
export class Http {
  readonly pacer: Pacer;
  readonly clock: Clock;
  /** Checked before a request is sent; `null`: no fence. */
  readonly fence: Fence | null;
  readonly #settings: ConnectionSettings;
  readonly #shared: Shared;

  constructor(settings: ConnectionSettings, pacer: Pacer, clock: Clock, fenced?: readonly [Fence, Shared]) {
    this.#settings = settings;
    this.pacer = pacer;
    this.clock = clock;
    this.fence = fenced?.[0] ?? null;
    this.#shared = fenced?.[1] ?? {
      throughput: new Throughput(),
      monitor: new StallMonitor(settings.stallTimeoutMs),
      serverClock: new ServerClock(clock),
      ...{ proxies: null, dispatcher: null },
    };
  }

  /** Returns an `Http` that shares these connections and whose requests a fence may hold back. */
  under(fence: Fence): Http {
    return new Http(this.#settings, this.pacer, this.clock, [fence, this.#shared]);
  }

  /** The platform's time, as its answers report it. */
  get serverClock(): ServerClock {
    return this.#shared.serverClock;
  }

  /** The rate at which the store accepts content, over all uploads. */
  get throughput(): Throughput {
    return this.#shared.throughput;
  }

  /**
   * Waits for its turn, sends the request and reads the answer. Does not follow redirects. An answer with any status is
   * `ok`.
   */
  async send(request: HttpRequest, signal: AbortSignal): Promise<Outcome<TimedAnswer>> {
    const turn = this.pacer.turn(request.to, signal, request.urgency);
    const releasedAtMs = turn instanceof Promise ? await turn : turn;
    const interrupted = interruption(signal);
    if (interrupted !== null) return failed({ ...interrupted, notCarriedOut: true });
    if (releasedAtMs === null) return failed(this.#postponed());
    try {
      const { monitor } = this.#shared;
      const made = this.#dispatcher();
      const dispatcher = made instanceof Promise ? await made : made;
      const mayLeave = this.fence === null ? null : permission(request.to, this.fence);
      if (mayLeave !== null && !mayLeave()) await this.fence?.proven(signal);
      const outgoing = mayLeave === null ? request : { ...request, mayLeave };
      const answer = await exchange(dispatcher, outgoing, request.body, monitor, signal);
      const proxy = request.url.protocol === 'http:' ? (this.#shared.proxies?.http ?? null) : null;
      return ok({ ...answer, releasedAtMs, ...(proxy !== null && { proxy: nameOfProxy(proxy) }) });
    } catch (error) {
      if (error instanceof KeptBack) return failed(NOT_HELD);
      const peer = { url: request.url, field: request.addressField };
      return failed(interruption(signal) ?? connectionFailure(error, this.#shared.proxies, peer));
    }
  }

  /**
   * Waits for its turn, and reads the content at an address of the store without keeping it. Returns the status;
   * `onChunk` receives the content of a success. Does not follow redirects.
   */
  async download(url: URL, onChunk: (chunk: Buffer) => void, signal: AbortSignal): Promise<Outcome<number>> {
    const releasedAtMs = await this.pacer.turn('store', signal, 'question');
    const interrupted = interruption(signal);
    if (interrupted !== null) return failed(interrupted);
    if (releasedAtMs === null) return failed(this.#postponed());
    const { stallTimeoutMs } = this.#settings;
    try {
      const dispatcher = await this.#dispatcher();
      const { statusCode, body } = await dispatcher.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'GET',
        headersTimeout: stallTimeoutMs,
        bodyTimeout: stallTimeoutMs,
        signal,
      });
      const isSuccess = statusCode >= 200 && statusCode < 300;
      for await (const chunk of body) if (isSuccess) onChunk(chunk as Buffer);
      return ok(statusCode);
    } catch (error) {
      return failed(
        interruption(signal) ?? connectionFailure(error, this.#shared.proxies, { url, field: null }),
      );
    }
  }

  /** Closes the connections and aborts running requests. */
  async close(): Promise<void> {
    const made = this.#shared.dispatcher;
    await (made instanceof Promise ? await made.catch(() => null) : made)?.destroy();
  }

  #postponed(): PlatformFailure {
    const seconds = Math.round(this.pacer.pausedForMs / 1000);
    const message = this.pacer.isPausedTooLong
      ? `the platform asked for a pause of ${seconds} s more, which is too long to wait for now`
      : 'stopped before it was sent';
    return { kind: 'transient', message, notCarriedOut: true, postponed: true };
  }

  #dispatcher(): Dispatcher | Promise<Dispatcher> {
    const shared = this.#shared;
    if (shared.dispatcher !== null) return shared.dispatcher;
    const making = this.#create();
    shared.dispatcher = making;
    making.then(
      (made) => (shared.dispatcher = made),
      // Loading fails if no file descriptor is free; the next request tries again.
      () => (shared.dispatcher = null),
    );
    return making;
  }

  async #create(): Promise<Dispatcher> {
    const { connections, stallTimeoutMs, proxyEnvironment } = this.#settings;
    this.#shared.proxies = proxyEnvironment === null ? null : proxiesOf(proxyEnvironment);
    return await createDispatcher({ connections, stallTimeoutMs, proxies: this.#shared.proxies });
  }
}

/** Requests to the platform begin something; requests to the store finish what was begun. */
function permission(to: Recipient, fence: Fence): () => boolean {
  return to === 'platform' ? fence.mayBegin : fence.mayFinish;
}

/** The fence refused the request. */
const NOT_HELD: PlatformFailure = {
  kind: 'transient',
  message: 'this host may not send it now: its lease was not proven in time',
  notCarriedOut: true,
};
function interruption(signal: AbortSignal): Extract<PlatformFailure, { kind: 'transient' }> | null {
  if (!signal.aborted) return null;
  // The caller may give a reason: `abort('no answer within 10 s')`.
  return { kind: 'transient', message: typeof signal.reason === 'string' ? signal.reason : 'interrupted' };
}
