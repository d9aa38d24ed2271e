import { open, type FileHandle } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { refuseAtStore, type Answer, type AnswerHeaders } from './answer.ts';

/** How an answer is sent. */
export interface Sending {
  /** Added to the answer's own headers, which win. */
  readonly headers: AnswerHeaders;
  /** When given, half of the body is held back until it resolves. */
  readonly holdHalf: Promise<void> | null;
}

/** Sends an answer and returns its status. A client that has gone away is no error. */
export async function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  sending: Sending,
): Promise<number> {
  switch (answer.kind) {
    case 'json': {
      const headers = { ...sending.headers, 'Content-Type': 'application/json', ...answer.headers };
      return sendText(response, answer.status, headers, JSON.stringify(answer.body), sending.holdHalf);
    }
    case 'text': {
      const headers = { ...sending.headers, ...answer.headers };
      return sendText(response, answer.status, headers, answer.body, sending.holdHalf);
    }
    case 'content':
      return sendContent(response, answer, sending);
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
  holdHalf: Promise<void> | null,
): Promise<number> {
  if (holdHalf === null) {
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(text) });
    response.end(text);
    return status;
  }
  // An empty body has no half to hold back: announce one byte, so that there is something to wait for.
  const bytes = Buffer.from(text === '' ? ' ' : text);
  response.writeHead(status, { ...headers, 'Content-Length': bytes.length });
  const half = Math.floor(bytes.length / 2);
  response.flushHeaders();
  response.write(bytes.subarray(0, half));
  await Promise.race([holdHalf, untilClosed(response)]);
  if (!response.destroyed) response.end(bytes.subarray(half));
  return status;
}

async function sendContent(
  response: ServerResponse,
  answer: Extract<Answer, { kind: 'content' }>,
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
    if (sending.holdHalf === null) {
      await pipeline(file.createReadStream({ autoClose: false }), response);
    } else {
      response.flushHeaders();
      const held = Promise.race([sending.holdHalf, untilClosed(response)]);
      await pipeline(readInHalves(file, size, held), response);
    }
  } catch (error) {
    if (!response.destroyed) throw error;
  } finally {
    await file.close();
  }
  return 200;
}

async function* readInHalves(file: FileHandle, size: number, held: Promise<void>): AsyncGenerator<Buffer> {
  const half = Math.floor(size / 2);
  if (half > 0) yield* file.createReadStream({ start: 0, end: half - 1, autoClose: false });
  await held;
  yield* file.createReadStream({ start: half, autoClose: false });
}
