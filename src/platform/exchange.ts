import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Answer } from './failures.ts';
import type { OpenBody } from './open-body.ts';
import { reset } from './tcp-socket.ts';
import { type StallMonitor, RequestWatch, type Stall } from './stall-monitor.ts';
import { type BagItem, Bag } from '../domain/bag.ts';

/** Longer answers are failures. The longest expected answer repeats an upsert of 1 MB, every character escaped. */
const LARGEST_ANSWER_BYTES = 8_000_000;

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Called when a connection is available, which may take a while; the request is sent only if it returns `true`. */
  readonly mayLeave?: () => boolean;
}

/** The request was given up because nothing moved. */
export class Stalled extends Error {
  readonly at: Stall;

  constructor(at: Stall) {
    super(`no progress (${at})`);
    this.at = at;
  }
}

/** The request was no longer allowed when a connection was available. */
export class KeptBack extends Error {}

/** The answer was longer than `LARGEST_ANSWER_BYTES`. */
export class AnswerTooLong extends Error {}

/**
 * The request that is being written in this turn of the event loop: undici reports the connection, but not the request.
 */
let beingWritten: RequestWatch | null = null;

subscribe('undici:client:sendHeaders', (message) => {
  beingWritten?.begin((message as { readonly socket: Socket }).socket, performance.now());
  beingWritten = null;
});

/**
 * Sends one request and reads its answer, through undici's lowest interface: for many small files, the streams that the
 * other interfaces create for every answer cost more than the files. An aborted request is reset, so that nothing more
 * of it arrives.
 *
 * @param signal - aborts it, also while it waits for a connection.
 */
export function exchange(
  dispatcher: Dispatcher,
  { url, method, headers, mayLeave = ALWAYS }: OutgoingRequest,
  body: OpenBody,
  monitor: StallMonitor,
  signal: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers,
        body: body.content as Buffer | string | Readable | null, // undici takes any async iterable
        // Replaced by the stall monitor, which sees more.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      new Exchange(body, monitor, signal, { mayLeave, resolve, reject }),
    );
  });
}

const ALWAYS = (): boolean => true;

interface Caller {
  readonly mayLeave: () => boolean;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** A running request. */
class Exchange implements Dispatcher.DispatchHandler, AbortListener {
  bagIndex = -1;
  readonly #monitor: StallMonitor;
  readonly #signal: AbortSignal;
  readonly #caller: Caller;
  readonly #watch: RequestWatch;
  readonly #chunks: Buffer[] = [];
  #status = 0;
  #headers: Answer['headers'] = {};
  #lengthBytes = 0;
  #controller: Dispatcher.DispatchController | null = null;

  constructor(body: OpenBody, monitor: StallMonitor, signal: AbortSignal, caller: Caller) {
    this.#monitor = monitor;
    this.#signal = signal;
    this.#caller = caller;
    this.#watch = body.watch = new RequestWatch(body, this);
    listen(signal, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#monitor.add(this.#watch);
    beingWritten = this.#watch;
    if (this.#signal.aborted) this.aborted();
    else if (!this.#caller.mayLeave()) this.#breakOff(new KeptBack());
  }

  onResponseStart(_controller: unknown, status: number, headers: Answer['headers']): void {
    // Informational responses precede the answer.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#watch.answer(performance.now());
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#lengthBytes += chunk.length;
    if (this.#lengthBytes > LARGEST_ANSWER_BYTES) this.#breakOff(new AnswerTooLong());
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    // A refusal may arrive before the body was read.
    this.#end(this.#status < 300);
    this.#caller.resolve({ status: this.#status, headers: this.#headers, text: textOf(this.#chunks) });
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#end(false);
    this.#caller.reject(error);
  }

  aborted(): void {
    this.#breakOff(new Error('interrupted'));
  }

  giveUp(stall: Stall): void {
    this.#breakOff(new Stalled(stall));
  }

  #breakOff(error: Error): void {
    if (this.#watch.socket !== null) reset(this.#watch.socket);
    this.#controller?.abort(error);
    this.#end(false);
    this.#caller.reject(error);
  }

  #end(isDone: boolean): void {
    this.#watch.end(isDone, performance.now());
    this.#monitor.delete(this.#watch);
    unlisten(this.#signal, this);
  }
}

function textOf(chunks: readonly Buffer[]): string {
  const [first] = chunks;
  if (first === undefined) return '';
  return (chunks.length === 1 ? first : Buffer.concat(chunks)).toString('utf8');
}

export interface AbortListener extends BagItem {
  readonly aborted: () => void;
}

interface Listened {
  readonly listeners: Bag<AbortListener>;
  readonly tellAll: () => void;
}

const listenedTo = new WeakMap<AbortSignal, Listened>();

/**
 * Calls a listener when a signal aborts, for signals that outlive thousands of requests. `EventTarget` keeps its
 * listeners in a linked list: a removed listener that is already in V8's old generation retains all later ones until
 * old objects are collected. So a signal gets one listener for all of ours.
 */
export function listen(signal: AbortSignal, listener: AbortListener): void {
  let listened = listenedTo.get(signal);
  if (listened === undefined) {
    const listeners = new Bag<AbortListener>();
    const tellAll = (): void => {
      for (const one of [...listeners]) one.aborted();
    };
    listenedTo.set(signal, (listened = { listeners, tellAll }));
  }
  if (listened.listeners.size === 0) signal.addEventListener('abort', listened.tellAll);
  listened.listeners.add(listener);
}

/** Removes a listener if it was added. A signal without listeners can be collected. */
export function unlisten(signal: AbortSignal, listener: AbortListener): void {
  const listened = listenedTo.get(signal);
  if (listened === undefined || listened.listeners.size === 0) return;
  listened.listeners.delete(listener);
  if (listened.listeners.size === 0) signal.removeEventListener('abort', listened.tellAll);
}
