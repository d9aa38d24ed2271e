import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { EXIT } from '../../domain/exit-code.ts';

/** Standard output or standard error. */
export type StandardDescriptor = 1 | 2;

/**
 * Writes what there is room for and returns how many bytes that was; 0 for a pipe without room that is set to
 * non-blocking; `null` when nobody can read it any more.
 *
 * @param fd - where to write; it is `standard` itself or leads to the same place.
 */
export function writeSome(standard: StandardDescriptor, fd: number, bytes: Buffer): number | null {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EAGAIN') return 0;
    // The reader went away (`| head`): nobody is left to tell.
    if (code === 'EPIPE') return null;
    if (code === 'ENOSPC' || code === 'EIO' || code === 'EBADF') {
      // A full disk below a redirected output is no reason to end a sync; its exit code tells of lost results.
      if (standard === 1) process.once('exit', () => (process.exitCode ||= EXIT.incomplete));
      return null;
    }
    throw error;
  }
}

/** Writes everything, however long the reader takes. Returns whether there is still a reader. */
export function writeAll(standard: StandardDescriptor, text: string): boolean {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) {
    const taken = writeSome(standard, standard, bytes.subarray(at));
    if (taken === null) return false;
    at += taken;
    // A pipe that is full, set to non-blocking by Node itself or by another process that shares it.
    if (taken === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
  return true;
}

/** A descriptor that leads to the same place and never waits for its reader. A file on a disk has none to wait for. */
export function openNonBlocking(standard: StandardDescriptor): number {
  const facts = fstatSync(standard);
  if (facts.isFIFO() || facts.isSocket()) {
    // Node sets a pipe to non-blocking when its stream is made, and undoes that at the end.
    const stream = standard === 1 ? process.stdout : process.stderr;
    return stream.fd;
  }
  if (process.platform !== 'linux' || !isatty(standard)) return standard;
  try {
    // The terminal is shared with the shell, which would meet the flag: an opening of our own has its own flags.
    return openSync(
      `/proc/self/fd/${standard}`,
      constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY,
    );
  } catch {
    // A terminal of another user (su) cannot be opened again.
    return standard;
  }
}
