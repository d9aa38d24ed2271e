import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OuterPointName } from './points.ts';

interface Armed {
  readonly name: OuterPointName;
  readonly bytes: number;
  readonly strike: () => void;
  timesLeft: number;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Bodies above this are streamed by the client and arrive in several parts, bytes. */
const LARGE_BYTES = 256 * 1024;

/** Follows the requests that arrive at a server of this process, and strikes when one has come to a point. */
export class RequestWatch {
  readonly #port: string;
  #armed: Armed | null = null;

  /** @param baseUrl - of the server. */
  constructor(baseUrl: string) {
    this.#port = new URL(baseUrl).port;
    subscribe('http.server.request.start', this.#onRequest);
  }

  /** From here on the `count`-th request that comes to a point strikes; one that was armed before does not any more. */
  arm(name: OuterPointName, count: number, bytes: number, strike: () => void): void {
    this.#armed = { name, bytes, strike, timesLeft: count };
  }

  disarm(): void {
    this.#armed = null;
  }

  close(): void {
    unsubscribe('http.server.request.start', this.#onRequest);
  }

  readonly #onRequest = (message: unknown): void => {
    const armed = this.#armed;
    const { request, response } = message as Exchange;
    if (armed === null || String(request.socket.localPort) !== this.#port) return;
    const isUpload = request.url?.startsWith('/upload/') === true;
    const isConcerned =
      armed.name === 'mid-body'
        ? isUpload && Number(request.headers['content-length']) > LARGE_BYTES
        : armed.name.startsWith(isUpload ? 'upload' : 'upsert');
    if (!isConcerned) return;
    armed.timesLeft -= 1;
    if (armed.timesLeft === 0) this.#follow({ request, response }, armed);
  };

  #follow({ request, response }: Exchange, { name, bytes, strike }: Armed): void {
    switch (name) {
      case 'upsert-arrived':
        // It is never carried out: the test has a fault hang there.
        strike();
        break;
      case 'upsert-applied':
      case 'upload-applied':
        response.end = () => {
          strike();
          return response.destroy();
        };
        break;
      case 'upsert-answered':
      case 'upload-answered':
        response.once('finish', strike);
        break;
      case 'mid-body':
        strikeAfter(request, bytes, strike);
        break;
    }
  }
}

function strikeAfter(request: IncomingMessage, bytes: number, strike: () => void): void {
  const push = request.push.bind(request);
  let received = 0;
  request.push = (chunk: Buffer | null, encoding) => {
    const before = received;
    received += chunk?.length ?? 0;
    if (before < bytes && received >= bytes) strike();
    return push(chunk, encoding);
  };
}
