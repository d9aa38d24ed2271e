import { open, type FileHandle } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { storeError, type OperationResult, type AnswerHeaders } from './answer.ts';

export type AnswerPacing =
  | { readonly kind: 'at-once' }
  /** The second half is sent when `until` resolves. */
  | { readonly kind: 'in-halves'; readonly until: Promise<void> }
  | { readonly kind: 'in-pieces'; readonly pieces: number; readonly everyMs: number }
  /** Sends this many bytes, at most all but one; then the connection ends. */
  | { readonly kind: 'cut'; readonly afterBytes: number };

export interface Sending {
  /** The answer's own headers take precedence over these. */
  readonly headers: AnswerHeaders;
  readonly delivery: AnswerPacing;
}

/** Sends an answer and returns its status. It is no error if the client has disconnected. */
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
      return 200;
    }
  }
}

/** Resolves when the response is sent or its connection has ended. */
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
  // An empty body has nothing to hold back: announce one byte to wait for.
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

/** Yields ranges of bytes, each when it is due. */
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

/** Ends the connection after what was written is sent. */
function endConnection(response: ServerResponse): void {
  response.req.socket.end();
}

/** Waits by a real timer; returns early when the connection ends. */
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
    // An upsert or the expiry deleted it after the operation checked.
    return sendAnswer(response, storeError(404, 'NoSuchKey', 'The specified key does not exist.'), sending);
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
