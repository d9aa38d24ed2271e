import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { locateSocket } from './daemon-socket.ts';

/** What a running daemon answered, or why it did not. */
export type DaemonAnswer =
  | { readonly kind: 'ok'; readonly status: number; readonly body: string }
  /** No daemon runs on this state file. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly reason: string };

/**
 * Asks the daemon that runs on a state file, over the socket beside it.
 *
 * @param target - path and query: `/approve?source=docs`.
 * @param signal - ends the wait for an answer; the daemon may be stopped or busy, so it has a time limit.
 */
export async function askDaemon(
  stateFile: string,
  method: 'GET' | 'POST',
  target: string,
  signal: AbortSignal,
): Promise<DaemonAnswer> {
  const place = locateSocket(stateFile);
  if (place.kind === 'absent') return { kind: 'absent' };
  if (place.kind === 'unreachable') return { kind: 'failed', reason: place.reason };
  try {
    return await exchange(place.address, method, target, signal);
  } catch (error) {
    return describe(error as NodeJS.ErrnoException, signal, place.path);
  } finally {
    place.release();
  }
}

async function exchange(
  socketPath: string,
  method: string,
  path: string,
  signal: AbortSignal,
): Promise<DaemonAnswer> {
  return await new Promise((resolve, reject) => {
    const call = request({ socketPath, method, path, signal, agent: false, headers: { host: 'localhost' } });
    call.once('error', reject);
    call.once('response', (response) => {
      buffer(response).then((body) => {
        resolve({ kind: 'ok', status: response.statusCode ?? 0, body: body.toString() });
      }, reject);
    });
    call.end();
  });
}

function describe({ code, message }: NodeJS.ErrnoException, signal: AbortSignal, path: string): DaemonAnswer {
  if (signal.aborted) return { kind: 'failed', reason: 'the running botsync did not answer in time' };
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ECONNREFUSED') return { kind: 'absent' };
  if (code === 'EACCES' || code === 'EPERM')
    return {
      kind: 'failed',
      reason: `${path} cannot be used by this user; run this command as the user of the service`,
    };
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return { kind: 'failed', reason: 'the running botsync ended before it answered' };
  return { kind: 'failed', reason: `the running botsync did not answer: ${code ?? message}` };
}
