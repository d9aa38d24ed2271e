import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { TEST_ONLY_IDENTITY } from '../tls/identity.ts';

/** An address that leads to another one, as long as it is open. */
export interface Gate {
  /** Without a trailing slash. */
  readonly url: string;
  /** Where it leads from now on. */
  readonly leadTo: (url: string) => void;
  /** Nobody listens there any more. */
  readonly shut: () => Promise<void>;
  readonly reopen: () => Promise<void>;
}

/**
 * Where gates stand. A port that was left must not be taken by one of the many servers of a test meanwhile: they are all
 * at another address.
 */
const HOST = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1';

/** Opens a gate without encryption. */
export async function openGate(): Promise<Gate> {
  return await stand(HOST, 'http', (pass) => createServer(pass));
}

/** Opens a gate over TLS, with a certificate for 127.0.0.1 of an authority that nobody knows. */
export async function openEncryptedGate(): Promise<Gate> {
  return await stand('127.0.0.1', 'https', (pass) => createTlsServer(TEST_ONLY_IDENTITY, pass));
}

async function stand(
  host: string,
  scheme: 'http' | 'https',
  create: (pass: (socket: Socket) => void) => Server,
): Promise<Gate> {
  let target = new URL('http://127.0.0.1:1');
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  };
  const server = create((socket) => {
    const onward = connect(Number(target.port), target.hostname);
    keep(socket);
    keep(onward);
    socket.pipe(onward).pipe(socket);
    socket.once('close', () => onward.destroy());
    onward.once('close', () => socket.destroy());
  });
  // A client that does not trust the certificate leaves in the midst of the handshake.
  server.on('tlsClientError', () => undefined);
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://${host}:${port}`,
    leadTo: (url) => {
      target = new URL(url);
    },
    shut: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    reopen: () => listen(port),
  };
}
