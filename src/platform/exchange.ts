import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Answer } from './failures.ts';
import type { OpenBody } from './open-body.ts';
import { reset } from './raw-socket.ts';
import type { StallMonitor } from './stall-monitor.ts';
import { Watch, type Stall } from './watch.ts';

/** A longer answer is a failure: the longest that is expected repeats an upsert of 1 MB, every character escaped. */
const LARGEST_ANSWER_BYTES = 8_000_000;

/** What is sent. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** Why a request was given up for want of progress. */
export class Stalled extends Error {
  readonly at: Stall;

  constructor(at: Stall) {
    super(`nothing moved (${at})`);
    this.at = at;
  }
}

/** The answer was longer than any answer is. */
export class AnswerTooLong extends Error {}

/** The request that is being written in this turn of the event loop: undici says on which connection, but not which request. */
let beingWritten: Watch | null = null;

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
  request: OutgoingRequest,
  body: OpenBody,
  monitor: StallMonitor,
  signal: AbortSignal,
): Promise<Answer> {
  const { url } = request;
  return new Promise((resolve, reject) => {
    let status = 0;
    let headers: Answer['headers'] = {};
    const chunks: Buffer[] = [];
    let lengthBytes = 0;
    let controller: Dispatcher.DispatchController | null = null;

    const breakOff = (error: Error): void => {
      if (watch.socket !== null) reset(watch.socket);
      controller?.abort(error);
      end(false);
      reject(error);
    };
    const abort = (): void => {
      breakOff(new Error('interrupted'));
    };
    const end = (isDone: boolean): void => {
      watch.end(isDone, performance.now());
      monitor.delete(watch);
      signal.removeEventListener('abort', abort);
    };
    const watch = new Watch({
      bodyBytes: body.sizeBytes,
      throughput: body.throughput,
      giveUp: (stall) => {
        breakOff(new Stalled(stall));
      },
    });
    body.onTurn = (whose) => {
      watch.turn(whose, performance.now());
    };
    signal.addEventListener('abort', abort);
    dispatcher.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: request.headers,
        body: body.content as Buffer | string | Readable | null, // undici takes any async iterable
        // The monitor sees more than these can.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        onRequestStart: (started) => {
          controller = started;
          monitor.add(watch);
          beingWritten = watch;
          if (signal.aborted) abort();
        },
        onResponseStart: (_controller, statusCode, responseHeaders) => {
          // Hints that come before an answer say nothing.
          if (statusCode < 200) return;
          status = statusCode;
          headers = responseHeaders;
          watch.answer(performance.now());
        },
        onResponseData: (_controller, chunk) => {
          lengthBytes += chunk.length;
          if (lengthBytes > LARGEST_ANSWER_BYTES) breakOff(new AnswerTooLong());
          else chunks.push(chunk);
        },
        onResponseEnd: () => {
          end(true);
          resolve({ status, headers, text: textOf(chunks) });
        },
        onResponseError: (_controller, error) => {
          end(false);
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
