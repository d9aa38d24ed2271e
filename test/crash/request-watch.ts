import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { OuterPointName } from './points.ts';

interface Armed {
  readonly name: OuterPointName;
  readonly bytes: number;
  readonly strike: () => void;
  timesLeft: number;
}

/** An upsert or a deletion that arrived. */
export interface Arrival {
  readonly key: string;
  /** What the `clock` of the watch said when its first bytes came. */
  readonly at: number;
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
  readonly #clock: () => number;
  readonly #keyOfId: (id: string) => string | null;
  #armed: Armed | null = null;
  #arrivals: Arrival[] = [];
  readonly #open = new Set<Socket>();

  /**
   * @param baseUrl - of the server.
   * @param clock - what tells one moment from another.
   * @param keyOfId - the key of the file that the server has under an id.
   */
  constructor(baseUrl: string, clock: () => number, keyOfId: (id: string) => string | null) {
    this.#port = new URL(baseUrl).port;
    this.#clock = clock;
    this.#keyOfId = keyOfId;
    subscribe('http.server.request.start', this.#onRequest);
    subscribe('net.server.socket', this.#onConnection);
  }

  /** From here on the `count`-th request that comes to a point strikes; one that was armed before does not any more. */
  arm(name: OuterPointName, count: number, bytes: number, strike: () => void): void {
    this.#armed = { name, bytes, strike, timesLeft: count };
  }

  /** Nothing strikes any more. Returns the upserts and deletions that arrived since it was called last. */
  disarm(): readonly Arrival[] {
    this.#armed = null;
    const arrivals = this.#arrivals;
    this.#arrivals = [];
    return arrivals;
  }

  /** Resolves when all connections are closed: what a killed client had sent was read by then. */
  async quiet(): Promise<void> {
    do await setImmediate();
    while (this.#open.size > 0);
  }

  close(): void {
    unsubscribe('net.server.socket', this.#onConnection);
    unsubscribe('http.server.request.start', this.#onRequest);
  }

  readonly #onConnection = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    if (String(socket.localPort) !== this.#port) return;
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
  };

  readonly #onRequest = (message: unknown): void => {
    const armed = this.#armed;
    const { request, response } = message as Exchange;
    if (String(request.socket.localPort) !== this.#port) return;
    const operation = operationOf(request);
    if (operation === 'upsert') this.#noteUpsert(request);
    if (operation === 'delete') this.#noteDeletion(request);
    if (armed === null || operation === null) return;
    const isConcerned =
      armed.name === 'mid-body'
        ? operation === 'upload' && Number(request.headers['content-length']) > LARGE_BYTES
        : armed.name.startsWith(operation);
    if (!isConcerned) return;
    armed.timesLeft -= 1;
    if (armed.timesLeft === 0) this.#follow({ request, response }, armed);
  };

  #noteUpsert(request: IncomingMessage): void {
    const at = this.#clock();
    let text = '';
    tap(request, (chunk) => {
      if (chunk !== null) text += chunk.toString('latin1');
      else if (text !== '') this.#arrivals.push({ key: keyOf(text), at });
    });
  }

  #noteDeletion({ url = '' }: IncomingMessage): void {
    const key = this.#keyOfId(decodeURIComponent(url.slice(FILES.length + 1)));
    if (key !== null) this.#arrivals.push({ key, at: this.#clock() });
  }

  #follow({ request, response }: Exchange, { name, bytes, strike }: Armed): void {
    switch (name) {
      case 'upsert-arrived':
      case 'get-arrived':
      case 'delete-arrived':
      case 'list-arrived':
      case 'update-arrived':
        // It is never carried out: the test has a fault hang there.
        strike();
        break;
      case 'upsert-applied':
      case 'upload-applied':
      case 'delete-applied':
      case 'update-applied':
        response.end = () => {
          strike();
          return response.destroy();
        };
        break;
      case 'upsert-answered':
      case 'upload-answered':
      case 'get-answered':
      case 'delete-answered':
      case 'list-answered':
      case 'update-answered':
        response.once('finish', strike);
        break;
      case 'mid-body':
        strikeAfter(request, bytes, strike);
        break;
    }
  }
}

const FILES = '/v1/files';

/** What a request asks for, by its method and address; `null`: nothing that strikes. */
function operationOf({
  method,
  url = '',
}: IncomingMessage): 'upload' | 'upsert' | 'list' | 'get' | 'update' | 'delete' | null {
  if (url.startsWith('/upload/')) return 'upload';
  if (method === 'PUT' && url === FILES) return 'upsert';
  if (method === 'GET' && url.startsWith(`${FILES}?`)) return 'list';
  if (!url.startsWith(`${FILES}/`)) return null;
  if (method === 'PUT') return 'update';
  if (method === 'GET') return 'get';
  return method === 'DELETE' ? 'delete' : null;
}

function strikeAfter(request: IncomingMessage, bytes: number, strike: () => void): void {
  let received = 0;
  tap(request, (chunk) => {
    const before = received;
    received += chunk?.length ?? 0;
    if (before < bytes && received >= bytes) strike();
  });
}

/** Shows the parts of a body as they arrive, and `null` for its end; a listener would take them from the server. */
function tap(request: IncomingMessage, see: (chunk: Buffer | null) => void): void {
  const push = request.push.bind(request);
  request.push = (chunk: Buffer | null, encoding) => {
    see(chunk);
    return push(chunk, encoding);
  };
}

/** `latin1`: bytes that make whole characters only together. */
function keyOf(latin1: string): string {
  return (JSON.parse(Buffer.from(latin1, 'latin1').toString('utf8')) as { key: string }).key;
}
