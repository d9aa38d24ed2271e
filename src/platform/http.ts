import type { Dispatcher } from 'undici';
import type { Clock } from '../domain/clock.ts';
import type { Fence } from '../domain/lease.ts';
import { failed, ok, type Outcome, type PlatformFailure } from '../domain/failure.ts';
import { Throughput } from '../domain/throughput.ts';
import { createDispatcher, proxiesOf, type Proxies } from './dispatcher.ts';
import { download } from './download.ts';
import { exchange, KeptBack, type OutgoingRequest } from './exchange.ts';
import { connectionFailure, nameOfProxy } from './connection-failure.ts';
import type { Answer } from './failures.ts';
import type { OpenBody } from './open-body.ts';
import type { Urgency } from './gate.ts';
import type { Pacer, Recipient } from './pacer.ts';
import { StallMonitor } from './stall-monitor.ts';

/** How connections are made. */
export interface ConnectionSettings {
  /** Most connections to one host at a time. */
  readonly connections: number;
  /** A request in which nothing moves for so long is given up, milliseconds. */
  readonly stallTimeoutMs: number;
  /** The environment whose `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are obeyed; `null`: no proxy is used. */
  readonly proxyEnvironment: NodeJS.ProcessEnv | null;
}

/** One request. */
export interface HttpRequest extends OutgoingRequest {
  readonly to: Recipient;
  /** See `Urgency`. */
  readonly urgency?: Urgency;
  readonly body: OpenBody;
  /** The field of the configuration that the address is from; `null`: the platform named it, it is that of the store. */
  readonly addressField: string | null;
}

/** An answer, and when its request was released, by the monotonic clock. */
export interface TimedAnswer extends Answer {
  readonly releasedAtMs: number;
}

/** What requests under several fences share. */
interface Shared {
  readonly throughput: Throughput;
  readonly monitor: StallMonitor;
  proxies: Proxies | null;
  dispatcher: Dispatcher | Promise<Dispatcher> | null;
}

/** The connections to the platform and its store: kept open, paced together. Requests are sent once; retrying is the caller's. */
export class Http {
  readonly pacer: Pacer;
  readonly clock: Clock;
  /** What requests ask before they leave; `null`: nothing keeps them. */
  readonly fence: Fence | null;
  readonly #settings: ConnectionSettings;
  readonly #shared: Shared;

  constructor(settings: ConnectionSettings, pacer: Pacer, clock: Clock, fenced?: readonly [Fence, Shared]) {
    this.#settings = settings;
    this.pacer = pacer;
    this.clock = clock;
    this.fence = fenced?.[0] ?? null;
    const monitor = fenced?.[1].monitor ?? new StallMonitor(settings.stallTimeoutMs);
    this.#shared = fenced?.[1] ?? { throughput: new Throughput(), monitor, proxies: null, dispatcher: null };
  }

  /** The same connections for requests that a fence may keep. */
  under(fence: Fence): Http {
    return new Http(this.#settings, this.pacer, this.clock, [fence, this.#shared]);
  }

  /** How fast the store takes content, over all uploads. */
  get throughput(): Throughput {
    return this.#shared.throughput;
  }

  /** Waits for its turn, sends, and reads the answer. Redirects are not followed. Any status is an answer. */
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
      const peer = nameOfPeer(request.url, request.addressField);
      return failed(interruption(signal) ?? connectionFailure(error, this.#shared.proxies, peer));
    }
  }

  /**
   * Waits for its turn, and reads what stands at an address of the store without keeping it. Gives the status of the
   * answer; `onChunk` is told the content of a success. Redirects are not followed.
   */
  async download(url: URL, onChunk: (chunk: Buffer) => void, signal: AbortSignal): Promise<Outcome<number>> {
    const releasedAtMs = await this.pacer.turn('store', signal, 'question');
    const interrupted = interruption(signal);
    if (interrupted !== null) return failed(interrupted);
    if (releasedAtMs === null) return failed(this.#postponed());
    try {
      return ok(
        await download(await this.#dispatcher(), url, this.#settings.stallTimeoutMs, onChunk, signal),
      );
    } catch (error) {
      return failed(
        interruption(signal) ?? connectionFailure(error, this.#shared.proxies, nameOfPeer(url, null)),
      );
    }
  }

  /** Closes the connections; what is running is broken off. */
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
      // Where no descriptor is free nothing can be loaded; there may be one next time.
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

/** What says whether a fence lets a request go. The store is sent what was begun before. */
function permission(to: Recipient, fence: Fence): () => boolean {
  return to === 'platform' ? fence.mayBegin : fence.mayFinish;
}

/** The fence kept a request for good. */
const NOT_HELD: PlatformFailure = {
  kind: 'transient',
  message: 'this host may not send it now: its lease was not proven in time',
  notCarriedOut: true,
};

/** Whom a request went to, in words. Of the store's address, which is a secret, only the host is told. */
function nameOfPeer({ origin }: URL, addressField: string | null): string {
  return addressField === null ? `the store at ${origin}` : `${origin} (${addressField})`;
}

function interruption(signal: AbortSignal): Extract<PlatformFailure, { kind: 'transient' }> | null {
  if (!signal.aborted) return null;
  // The caller may say why: `abort('no answer within 10 s')`.
  return { kind: 'transient', message: typeof signal.reason === 'string' ? signal.reason : 'interrupted' };
}
