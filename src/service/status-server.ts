import { once } from 'node:events';
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { formatAddress, isLoopback, type ListenAddress } from '../domain/listen-address.ts';
import { locateSocket } from './daemon-socket.ts';
import { MOST_BODY_BYTES, type PageSite, type SiteAnswer } from './page-site.ts';
import { namesThisMachine } from './request-origin.ts';
import { statusRoutes, text, type ControlPorts, type StatusPorts } from './status-routes.ts';

export interface StatusServer {
  /** `127.0.0.1:9464` with the actual port, or the path of the socket. */
  readonly address: string;
  /** Stops listening and ends all connections, even during a request. */
  readonly close: () => Promise<void>;
}

export type ServeAttempt =
  | { readonly kind: 'serving'; readonly server: StatusServer }
  | { readonly kind: 'failed'; readonly reason: string };

/** Protects the daemon from clients that hang or are too many. */
export interface ClientLimits {
  readonly connections: number;
  /** Ends idle connections and incomplete requests, in milliseconds. */
  readonly patienceMs: number;
}

const SOCKET_LIMITS: ClientLimits = { connections: 32, patienceMs: 10_000 };

/** Room for all open pages, and for requests of metrics. */
const ADDRESS_LIMITS: ClientLimits = { connections: 160, patienceMs: 10_000 };

/**
 * Listens on TCP. If only this machine can reach the address, requests must name it by number or as localhost: a
 * page whose name was made to resolve to this machine (DNS rebinding) is answered with 421.
 *
 * @param site - the page; `null` without one, and then there are only reading requests.
 */
export async function serveOnAddress(
  address: ListenAddress,
  ports: StatusPorts,
  site: PageSite | null,
  limits = ADDRESS_LIMITS,
): Promise<ServeAttempt> {
  const routes = statusRoutes(ports, null);
  const isOurName = isLoopback(address.host) ? namesThisMachine : () => true;
  const answer = async (request: IncomingMessage): Promise<SiteAnswer> => {
    const { method = '', url = '', headers, socket } = request;
    if (!isOurName(headers.host))
      return { kind: 'whole', ...text(421, 'unexpected host name; use the IP address or localhost') };
    const [path = '', query = ''] = url.split('?', 2);
    const fromSite = await site?.answer({
      ...{ method, path, query: new URLSearchParams(query), headers },
      client: socket.remoteAddress ?? '',
      port: socket.localPort ?? 0,
      body: () => bodyOf(request),
    });
    return fromSite ?? { kind: 'whole', ...(await routes(method, url)) };
  };
  const server = httpServer(answer, ports.failed, limits);
  server.listen({ host: address.host, port: address.port });
  const problem = await listening(server);
  if (problem !== null) {
    return { kind: 'failed', reason: `cannot listen at ${formatAddress(address)}: ${describe(problem)}` };
  }
  const { port } = server.address() as AddressInfo;
  return serving(server, formatAddress({ host: address.host, port }), ports);
}

/**
 * Listens on the socket `<stateFile>.socket`, for its owner only, who may also approve. Replaces the socket of a
 * dead process: the caller holds the lock of the state file.
 */
export async function serveOnSocket(
  stateFile: string,
  ports: ControlPorts,
  limits = SOCKET_LIMITS,
): Promise<ServeAttempt> {
  const place = locateSocket(stateFile);
  if (place.kind === 'absent')
    return { kind: 'failed', reason: `the directory of ${stateFile} does not exist` };
  if (place.kind === 'unreachable') return { kind: 'failed', reason: place.reason };
  const { path, address, release } = place;
  const failed = (reason: string): ServeAttempt => {
    release();
    return { kind: 'failed', reason: `cannot listen at ${path}: ${reason}` };
  };
  const routes = statusRoutes(ports, ports);
  const answer = async ({ method = '', url = '' }: IncomingMessage): Promise<SiteAnswer> => ({
    kind: 'whole',
    ...(await routes(method, url)),
  });
  const server = httpServer(answer, ports.failed, limits);
  // Excludes others even between the creation of the socket and its chmod.
  const umask = process.umask(0o077);
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) rmSync(path);
    server.listen({ path: address });
    if (server.listening) chmodSync(path, 0o600);
  } catch (error) {
    server.close();
    return failed(describe(error as NodeJS.ErrnoException));
  } finally {
    process.umask(umask);
  }
  const problem = await listening(server);
  if (problem !== null) return failed(describe(problem));
  // Node deletes the socket when the server closes.
  server.once('close', release);
  return serving(server, path, ports);
}

function httpServer(
  answer: (request: IncomingMessage) => Promise<SiteAnswer>,
  failed: (error: unknown) => void,
  { connections, patienceMs }: ClientLimits,
): Server {
  const server = createServer({
    headersTimeout: patienceMs,
    requestTimeout: patienceMs,
    keepAliveTimeout: patienceMs,
    connectionsCheckingInterval: patienceMs / 2,
  });
  server.setTimeout(patienceMs);
  server.maxConnections = connections;
  // Answers to pipelined requests would pile up for a client that reads none.
  server.maxRequestsPerSocket = 1;
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void answer(request)
      .catch((error: unknown): SiteAnswer => {
        // A client that disconnected during its request is no failure.
        if (request.errored === null) failed(error);
        return { kind: 'whole', ...text(500, 'internal error; see the log') };
      })
      .then((made) => {
        send(made, request.method === 'HEAD', response);
      });
  });
  return server;
}

function send(answer: SiteAnswer, isHead: boolean, response: ServerResponse): void {
  const shields = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
  switch (answer.kind) {
    case 'whole': {
      const length = { 'content-length': Buffer.byteLength(answer.body) };
      response.writeHead(answer.status, { ...answer.headers, ...length, ...shields });
      response.end(isHead ? undefined : answer.body);
      return;
    }
    case 'stream':
      // A destroyed response emits no more events.
      if (response.destroyed) return;
      response.writeHead(200, { ...answer.headers, ...shields });
      // A stream may be silent for longer than the timeout; its own heartbeat detects dead clients.
      response.socket?.setTimeout(0);
      answer.begin(response);
  }
}

/** Returns the body of a request; `null` if it is too large. Rejects if the client disconnects. */
async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The unread rest must not end the connection before the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

async function listening(server: Server): Promise<NodeJS.ErrnoException | null> {
  try {
    await once(server, 'listening');
    return null;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

function serving(server: Server, address: string, { failed }: StatusPorts): ServeAttempt {
  // For example too few file descriptors for another connection, which is no reason to end.
  server.on('error', failed);
  let closed: Promise<unknown> | null = null;
  const close = async (): Promise<void> => {
    closed ??= new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
    await closed;
  };
  return { kind: 'serving', server: { address, close } };
}

/** Explanations of common errors. */
const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address in use',
  EADDRNOTAVAIL: 'this machine does not have this address',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};

function describe({ code, message }: NodeJS.ErrnoException): string {
  return code === undefined ? message : (REASONS[code] ?? code);
}
