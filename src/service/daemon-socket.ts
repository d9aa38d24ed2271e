import { request } from 'node:http';
import { closeSync, constants, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { buffer } from 'stream/consumers';

/** The address of a state file's socket, for binding or connecting. */
export type SocketPlace =
  /** `release` must follow the last use of `address`. */
  | {
      readonly kind: 'reachable';
      readonly path: string;
      readonly address: string;
      readonly release: () => void;
    }
  /** The directory does not exist. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreachable'; readonly reason: string };

/** Maximum length of a socket address, in bytes. */
const LONGEST_ADDRESS = process.platform === 'linux' ? 107 : 103;

/**
 * Locates the socket `<stateFile>.socket`. `stateFile` is absolute and may be too long for a socket address: on Linux an open
 * descriptor then replaces the directory.
 */
export function locateSocket(stateFile: string): SocketPlace {
  const path = `${stateFile}.socket`;
  if (fits(path)) return { kind: 'reachable', path, address: path, release: () => undefined };
  const tooLong: SocketPlace = { kind: 'unreachable', reason: `the path ${path} is too long for a socket` };
  if (process.platform !== 'linux') return tooLong;
  let directory: number;
  try {
    directory = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { kind: 'absent' }
      : { kind: 'unreachable', reason: message };
  }
  const address = `/proc/self/fd/${directory}/${basename(path)}`;
  const release = (): void => {
    closeSync(directory);
  };
  if (fits(address)) return { kind: 'reachable', path, address, release };
  release();
  return tooLong;
}

function fits(address: string): boolean {
  return Buffer.byteLength(address) <= LONGEST_ADDRESS;
}

export type DaemonAnswer =
  | { readonly kind: 'ok'; readonly status: number; readonly body: string }
  /** No daemon runs on this state file. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly reason: string };

/**
 * Sends a request to the daemon of a state file, over the socket next to it.
 *
 * @param target - path and query: `/approve?source=docs`.
 * @param signal - ends the wait for an answer. Callers must limit the wait, since the daemon may be stopped or
 * busy.
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
