import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RawAnswer, renderAnswer } from './raw-answer.ts';

/** A server that answers every request with bytes of the test's choice, and then ends the connection. */
export interface RawServer {
  /** Without a trailing slash. */
  readonly url: string;
  /** What the next requests are answered with, one after the other; the last again and again. */
  answers: readonly RawAnswer[];
  readonly close: () => Promise<void>;
}

/** Starts it on a free port. */
export async function startRawServer(): Promise<RawServer> {
  const server = createServer((request) => {
    const [answer, ...rest] = raw.answers;
    if (answer === undefined) throw new Error('there is no answer to give');
    if (rest.length > 0) raw.answers = rest;
    const send = (): void => {
      request.socket.end(renderAnswer(answer, raw.url));
    };
    if (answer.early) send();
    else request.on('end', send);
    request.on('error', () => undefined);
    request.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const raw: RawServer = { url: `http://127.0.0.1:${port}`, answers: [], close: () => end(server) };
  return raw;
}

async function end(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
