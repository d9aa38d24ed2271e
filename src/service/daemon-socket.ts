import { closeSync, constants, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/** How the socket beside a state file is bound or connected to. */
export type SocketPlace =
  /** `release` comes after the last use of `address`. */
  | {
      readonly kind: 'reachable';
      readonly path: string;
      readonly address: string;
      readonly release: () => void;
    }
  /** The directory is not there. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreachable'; readonly reason: string };

/** Bytes of a path that the address of a socket has room for. */
const LONGEST_ADDRESS = process.platform === 'linux' ? 107 : 103;

/**
 * The place of the socket `<stateFile>.socket`. `stateFile` is absolute, and may be longer than the address of a socket:
 * on Linux the directory is then named by an open file of ours.
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
