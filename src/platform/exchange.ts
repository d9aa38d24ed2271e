import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { listen, unlisten, type AbortListener } from './abort-listeners.ts';
import type { Answer } from './failures.ts';
import type { OpenBody } from './open-body.ts';
import { reset } from './raw-socket.ts';
import type { StallMonitor } from './stall-monitor.ts';
import { RequestWatch, type Stall } from './request-watch.ts';

/** A longer answer is a failure: the longest that is expected repeats an upsert of 1 MB, every character escaped. */
const LARGEST_ANSWER_BYTES = 8_000_000;

/** What is sent. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Asked when there is a connection for it, which may take a while; without it it leaves. */
  readonly mayLeave?: () => boolean;
}

/** Why a request was given up for want of progress. */
export class Stalled extends Error {
  readonly at: Stall;

  constructor(at: Stall) {
    super(`no progress (${at})`);
    this.at = at;
  }
}

/** It was not to leave any more when there was a connection for it. */
export class KeptBack extends Error {}

/** The answer was longer than any answer is. */
export class AnswerTooLong extends Error {}

/** The request that is being written in this turn of the event loop: undici says on which connection, but not which request. */
let beingWritten: RequestWatch | null = null;

subscribe('undici:client:sendHeaders', (message) => {
  beingWritten?.begin((message as { readonly socket: Socket }).socket, performance.now());
  beingWritten = null;
});

/**
 * One request and its answer, by undici's lowest interface: for many small files the streams that the others make of
 * every answer cost more than the files. A request that is broken off is reset: nothing of it arrives any more.
 *
 * @param signal - breaks it off, also while it waits for a connection.
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
        // The monitor sees more than these can.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      new Exchange(body, monitor, signal, { mayLeave, resolve, reject }),
    );
  });
}

const ALWAYS = (): boolean => true;

/** What an exchange asks its caller, and tells it. */
interface Caller {
  readonly mayLeave: () => boolean;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** A running request: what undici tells of it, and what may end it. */
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
    // Hints that come before an answer say nothing.
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
    // A refusal may come before the body was read.
    this.#end(this.#status < 300);
    this.#caller.resolve({ status: this.#status, headers: this.#headers, text: textOf(this.#chunks) });
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#end(false);
    this.#caller.reject(error);
  }

  /** The caller's signal aborted. */
  aborted(): void {
    this.#breakOff(new Error('interrupted'));
  }

  /** Nothing moves any more. */
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
