import { createServer } from 'node:net';

/** Below the ports that systems give to whoever asks for any: nobody gets one of these by chance while its server is down. */
const LOWEST_PORT = 20_000;

/** So many processes run test files at once at most, each with ports of its own: … */
const PROCESSES = 16;
const PORTS_A_PROCESS = 625;

/** … another one cannot draw that of a server that is down, and have its clients. */
const FIRST_PORT = LOWEST_PORT + (Number(process.env['VITEST_POOL_ID'] ?? 0) % PROCESSES) * PORTS_A_PROCESS;

/**
 * Draws a port of 127.0.0.1 on which nobody listens. A server that leaves it finds it free when it comes back: the servers
 * of other tests ask for port 0.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS_A_PROCESS);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen(port, '127.0.0.1', () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}
