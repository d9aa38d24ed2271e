// The entry of the thread that watches the main thread; built as a separate file.
import { write, readFileSync, readlinkSync, openSync, readSync, closeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { escapeControls } from '../domain/escape.ts';
import { HangJudge, hangCheckMs } from '../domain/hang.ts';
import type { HangWatchData } from './hang-watch.ts';

/** Limit on writing the last line, in milliseconds: standard error may be on the file system that hangs. */
const LAST_LINE_MS = 500;

const { beats, hangTimeoutMs } = workerData as HangWatchData;
const counter = new Int32Array(beats);
const judge = new HangJudge(hangTimeoutMs);
const checks = setInterval(() => {
  if (!judge.check(Atomics.load(counter, 0))) return;
  clearInterval(checks);
  endProcess();
}, hangCheckMs(hangTimeoutMs));

function endProcess(): void {
  const path = pathBlockedOn();
  const seconds = Math.round(hangTimeoutMs / 1000);
  const where = path === null ? '' : `, in a file system call on ${path}`;
  const fields = { level: 60, time: Date.now(), pid: process.pid, ...(path !== null && { path }) };
  const msg = `no progress for ${seconds} s${where}; ending the process (service.hangTimeout)`;
  setTimeout(kill, LAST_LINE_MS);
  write(2, `${escapeControls(JSON.stringify({ ...fields, msg }))}\n`, kill);
}

/** `process.exit` would end only this thread, and other signals may not be handled. */
function kill(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Paths are cut at this length. */
const LONGEST_PATH = 4096;

/** The descriptor of the working directory in system calls with a directory and a path. */
const AT_FDCWD = 0xffffff9cn;

/** Memory addresses of this process are above it; descriptors and sizes of small reads below. */
const LOWEST_ADDRESS = 0x10000n;

/**
 * Returns the path of the main thread's system call; `null` if it is unknown (only Linux reports it), or if the thread is
 * running. Must be called from another thread. Linux reports the call and its arguments: the first or second one is a path, or
 * the first is an open file. Accesses no file system but `/proc`.
 */
function pathBlockedOn(): string | null {
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

/** Returns the absolute path at an address of this process. */
function pathAt(address: bigint): string | null {
  const memory = openSync('/proc/self/mem', 'r');
  try {
    const bytes = Buffer.alloc(LONGEST_PATH);
    // The memory after the path may not be readable, so read one page at a time.
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
