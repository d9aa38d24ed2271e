import { closeSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs';

/** As much of a path as is read. */
const LONGEST_PATH = 4096;

/** The descriptor that stands for the working directory in system calls that take a directory and a path. */
const AT_FDCWD = 0xffffff9cn;

/** Addresses of this process' memory lie beyond; descriptors and sizes of small reads below. */
const LOWEST_ADDRESS = 0x10000n;

/**
 * The path that the main thread's system call is about, asked from another thread of this process; `null` where that
 * cannot be found out (only Linux tells), or when the thread runs. Linux names the call and its arguments: a path is in
 * the first or second one, or the first is an open file. Touches no file system but `/proc`.
 */
export function pathBlockedOn(): string | null {
  try {
    const fields = readFileSync(`/proc/self/task/${process.pid}/syscall`, 'utf8').trim().split(' ');
    if (fields.length < 4) return null;
    const [, first, second] = fields.map(BigInt);
    if (first === undefined || second === undefined) return null;
    if ((first & 0xffffffffn) === AT_FDCWD) return pathAt(second);
    if (first >= LOWEST_ADDRESS) return pathAt(first);
    return readlinkSync(`/proc/self/fd/${first}`);
  } catch {
    return null;
  }
}

/** The absolute path that stands at an address of this process. */
function pathAt(address: bigint): string | null {
  const memory = openSync('/proc/self/mem', 'r');
  try {
    const bytes = Buffer.alloc(LONGEST_PATH);
    // What lies behind the path may not be readable: a page at a time.
    const toPageEnd = LONGEST_PATH - Number(address % BigInt(LONGEST_PATH));
    let got = readSync(memory, bytes, 0, toPageEnd, address);
    if (!bytes.subarray(0, got).includes(0))
      got += readSync(memory, bytes, got, LONGEST_PATH - got, address + BigInt(got));
    const end = bytes.subarray(0, got).indexOf(0);
    const path = end < 0 ? '' : bytes.toString('utf8', 0, end);
    return path.startsWith('/') ? path : null;
  } finally {
    closeSync(memory);
  }
}
