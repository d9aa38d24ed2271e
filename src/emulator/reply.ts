import { open, type FileHandle } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { refuseAtStore, type OperationResult, type AnswerHeaders } from './answer.ts';

/** How the body of an answer is sent. */
export type AnswerPacing =
  | { readonly kind: 'at-once' }
  /** Half of it is held back until `until` resolves. */
  | { readonly kind: 'in-halves'; readonly until: Promise<void> }
  /** In so many pieces, each so long after the one before. */
  | { readonly kind: 'in-pieces'; readonly pieces: number; readonly everyMs: number }
  /** So many bytes of it, at most all but one; then the connection ends. */
  | { readonly kind: 'cut'; readonly afterBytes: number };

/** How an answer is sent. */
export interface Sending {
  /** Added to the answer's own headers, which win. */
  readonly headers: AnswerHeaders;
  readonly delivery: AnswerPacing;
}

/** Sends an answer and returns its status. A client that has gone away is no error. */
export async function sendAnswer(
  response: ServerResponse,
  answer: OperationResult,
  sending: Sending,
): Promise<number> {
  switch (answer.kind) {
    case 'json': {
      const headers = { ...sending.headers, 'Content-Type': 'application/json', ...answer.headers };
      return sendText(response, answer.status, headers, JSON.stringify(answer.body), sending.delivery);
    }
    case 'text': {
      const headers = { ...sending.headers, ...answer.headers };
      return sendText(response, answer.status, headers, answer.body, sending.delivery);
    }
    case 'content':
      return sendContent(response, answer, sending);
    case 'events': {
      const headers = { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store' };
      response.writeHead(200, { ...sending.headers, ...headers, ...answer.headers });
      response.flushHeaders();
      const end = answer.follow(
        (event, data) => response.write(`event: ${event}\ndata: ${data}\n\n`),
        () => !response.writableNeedDrain,
      );
      await untilClosed(response);
      end();
      return 200;
    }
  }
}

/** Resolves when the response is done, be it sent or cut off. */
export function untilClosed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (response.closed || response.destroyed) resolve();
    else response.once('close', resolve);
  });
}

async function sendText(
  response: ServerResponse,
  status: number,
  headers: AnswerHeaders,
  text: string,
  delivery: AnswerPacing,
): Promise<number> {
  if (delivery.kind === 'at-once') {
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(text) });
    response.end(text);
    return status;
  }
  // An empty body has no part to hold back: announce one byte, so that there is something to wait for.
  const bytes = Buffer.from(text === '' ? ' ' : text);
  response.writeHead(status, { ...headers, 'Content-Length': bytes.length });
  response.flushHeaders();
  for await (const [from, to] of parts(bytes.length, delivery, response)) {
    if (response.destroyed) break;
    response.write(bytes.subarray(from, to));
  }
  if (delivery.kind === 'cut') endConnection(response);
  else if (!response.destroyed) response.end();
  return status;
}

/** The parts of a body as they are due, each from one byte to another. */
async function* parts(
  size: number,
  delivery: Exclude<AnswerPacing, { kind: 'at-once' }>,
  response: ServerResponse,
): AsyncGenerator<readonly [number, number]> {
  switch (delivery.kind) {
    case 'in-halves': {
      const half = Math.floor(size / 2);
      yield [0, half];
      await Promise.race([delivery.until, untilClosed(response)]);
      yield [half, size];
      break;
    }
    case 'in-pieces': {
      const end = (piece: number): number => Math.floor((size * piece) / delivery.pieces);
      for (let piece = 0; piece < delivery.pieces && !response.destroyed; piece += 1) {
        if (piece > 0) await waitWhileOpen(response, delivery.everyMs);
        yield [end(piece), end(piece + 1)];
      }
      break;
    }
    case 'cut':
      yield [0, Math.min(delivery.afterBytes, size - 1)];
      break;
  }
}

/** Ends the connection once what was written has left. */
function endConnection(response: ServerResponse): void {
  response.socket?.end();
}

/** Waits by a real timer, for as long as the connection is open. */
export async function waitWhileOpen(response: ServerResponse, delayMs: number): Promise<void> {
  const ended = new AbortController();
  const { socket } = response.req;
  const end = (): void => {
    ended.abort();
  };
  socket.once('close', end);
  if (socket.destroyed) end();
  await sleep(delayMs, undefined, { signal: ended.signal }).catch(() => undefined);
  socket.off('close', end);
}

async function sendContent(
  response: ServerResponse,
  answer: Extract<OperationResult, { kind: 'content' }>,
  sending: Sending,
): Promise<number> {
  const file = await open(answer.path).catch(() => null);
  if (file === null) {
    // An upsert or the expiry removed it since the operation looked.
    return sendAnswer(
      response,
      refuseAtStore(404, 'NoSuchKey', 'The specified key does not exist.'),
      sending,
    );
  }
  try {
    const { size } = await file.stat();
    response.writeHead(200, { ...sending.headers, ...answer.headers, 'Content-Length': size });
    if (response.req.method === 'HEAD' || size === 0) {
      response.end();
      return 200;
    }
    const { delivery } = sending;
    if (delivery.kind === 'at-once') {
      await pipeline(file.createReadStream({ autoClose: false }), response);
    } else {
      response.flushHeaders();
      await pipeline(readParts(file, parts(size, delivery, response)), response, {
        end: delivery.kind !== 'cut',
      });
      if (delivery.kind === 'cut') endConnection(response);
    }
  } catch (error) {
    if (!response.destroyed) throw error;
  } finally {
    await file.close();
  }
  return 200;
}

async function* readParts(
  file: FileHandle,
  due: AsyncIterable<readonly [number, number]>,
): AsyncGenerator<Buffer> {
  for await (const [from, to] of due) {
    if (to > from) yield* file.createReadStream({ start: from, end: to - 1, autoClose: false });
  }
}
