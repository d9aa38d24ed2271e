import { createServer, request as httpRequest, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect as connectTcp, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { TRUSTED_IDENTITY } from './tls/identity.ts';

/** How a proxy of a test differs from one that serves everybody. */
export interface ProxyOptions {
  /** Default `http`. */
  readonly scheme?: 'http' | 'https';
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** `USER:PASSWORD` that it demands. */
  readonly credentials?: string;
  /** The status of all its answers; nothing is passed on. */
  readonly refusal?: number;
}

/** An HTTP proxy that tunnels (CONNECT) and forwards; it ends with the test. */
export interface TestProxy {
  readonly url: string;
  /** Each request as `METHOD target`, in the order of arrival. */
  readonly asked: readonly string[];
  /** Breaks off everything that goes through it, and listens again at the same address. */
  readonly restart: () => Promise<void>;
}

/** Names below `.test` are this machine. */
export async function startProxy({
  scheme = 'http',
  host = '127.0.0.1',
  credentials,
  refusal,
}: ProxyOptions = {}): Promise<TestProxy> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  };
  const refusalOf = (given: string | undefined): number | undefined => {
    if (credentials === undefined) return refusal;
    return given === `Basic ${Buffer.from(credentials).toString('base64')}` ? refusal : 407;
  };

  const serve: RequestListener = (request, response) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''}`);
    const { 'proxy-authorization': given, ...headers } = request.headers;
    const status = refusalOf(given);
    if (status !== undefined) {
      response.writeHead(status).end();
      return;
    }
    const onward = httpRequest(request.url ?? '', { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  };
  const server = scheme === 'http' ? createServer(serve) : createHttpsServer(TRUSTED_IDENTITY, serve);
  server.on('connection', keep);
  server.on('connect', (request, socket: Socket, head) => {
    asked.push(`CONNECT ${request.url ?? ''}`);
    const status = refusalOf(request.headers['proxy-authorization']);
    if (status !== undefined) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${request.url ?? ''}`);
    const bare = hostname.replace(/^\[(.*)\]$/u, '$1');
    const onward = connectTcp(Number(port || 80), bare.endsWith('.test') ? '127.0.0.1' : bare, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    keep(onward);
    onward.on('close', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  });

  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
  const shut = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen(0);
  onTestFinished(shut);
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    asked,
    restart: async () => {
      await shut();
      await listen(port);
    },
  };
}
