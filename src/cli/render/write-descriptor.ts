import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { EXIT } from '../../domain/exit-code.ts';

export type StandardDescriptor = 1 | 2;

/**
 * Writes as much as there is room for and returns the number of bytes; 0 for a full non-blocking pipe, `null` if
 * the reader is gone.
 *
 * @param fd - `standard`, or a descriptor of the same file.
 */
export function writeSome(standard: StandardDescriptor, fd: number, bytes: Buffer): number | null {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EAGAIN') return 0;
    // The reader is gone (`| head`).
    if (code === 'EPIPE') return null;
    if (code === 'ENOSPC' || code === 'EIO' || code === 'EBADF') {
      // A full disk below redirected output is no reason to end a sync; the exit code reports lost results.
      if (standard === 1) process.once('exit', () => (process.exitCode ||= EXIT.incomplete));
      return null;
    }
    throw error;
  }
}

/** Writes everything, however slow the reader is. Returns whether there is still a reader. */
export function writeAll(standard: StandardDescriptor, text: string): boolean {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) {
    const taken = writeSome(standard, standard, bytes.subarray(at));
    if (taken === null) return false;
    at += taken;
    // A full pipe that Node, or another process that shares it, set to non-blocking.
    if (taken === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
  return true;
}

/** Returns a descriptor of the same file that never blocks. Regular files never block. */
export function openNonBlocking(standard: StandardDescriptor): number {
  const facts = fstatSync(standard);
  if (facts.isFIFO() || facts.isSocket()) {
    // Node sets a pipe to non-blocking when it creates the stream, and resets it at the end.
    const stream = standard === 1 ? process.stdout : process.stderr;
    return stream.fd;
  }
  if (process.platform !== 'linux' || !isatty(standard)) return standard;
  try {
    // The flag of a shared terminal would affect the shell; a descriptor opened here has its own flags.
    return openSync(
      `/proc/self/fd/${standard}`,
      constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY,
    );
  } catch {
    // A terminal of another user (su) cannot be opened again.
    return standard;
  }
}

/** Delays before a full reader is retried, in milliseconds: the first, and the longest. */
const FIRST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 200;

export interface BoundedOutputPorts {
  /**
   * Takes as many bytes as there is room for, without waiting, and returns their number; `null` if the reader is
   * gone.
   */
  readonly take: (bytes: Buffer) => number | null;
  /** Lines are dropped from now on, until the reader has taken everything that waits. */
  readonly dropping: () => void;
  /** The reader continues after this many dropped lines. Text written here comes next. */
  readonly resumed: (droppedLines: number) => void;
}

/**
 * Writes whole lines to a reader that may be slow, without waiting for it: lines wait up to a bound, further lines
 * are dropped and counted.
 */
export class BoundedOutput {
  readonly #mostBytes: number;
  readonly #ports: BoundedOutputPorts;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #droppedLines = 0;
  #retryMs = FIRST_RETRY_MS;
  #timer: NodeJS.Timeout | null = null;

  /**
   * @param mostBytes - the bound on waiting bytes. A single longer text waits all the same, so that a begun line is
   * completed.
   */
  constructor(mostBytes: number, ports: BoundedOutputPorts) {
    this.#mostBytes = mostBytes;
    this.#ports = ports;
  }

  /** Writes whole lines now, later, or never. */
  write(text: string): void {
    if (this.#droppedLines > 0) {
      this.#droppedLines += countLines(text);
      return;
    }
    const bytes = Buffer.from(text);
    if (this.#waiting.length > 0 && this.#waitingBytes + bytes.length > this.#mostBytes) {
      this.#droppedLines = countLines(text);
      this.#ports.dropping();
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waiting.length === 1) this.pump();
  }

  /**
   * Passes on as much as the reader has room for, and retries the rest later. Returns whether the reader took
   * anything.
   */
  pump(): boolean {
    let hasMoved = false;
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      const taken = this.#ports.take(first);
      if (taken === 0) {
        this.#tryLater(hasMoved);
        return hasMoved;
      }
      hasMoved = true;
      if (taken === null) this.#forget();
      else this.#remove(first, taken);
    }
    this.#retryMs = FIRST_RETRY_MS;
    this.#resume();
    return hasMoved;
  }

  /**
   * Waits until the reader has everything, for as long as it keeps reading. Returns the number of lines that it did
   * not get.
   *
   * @param patienceMs - how long it may read nothing.
   */
  async drain(patienceMs: number): Promise<number> {
    let movedAtMs = performance.now();
    while (this.#waiting.length > 0 && performance.now() - movedAtMs < patienceMs) {
      await new Promise((resolve) => setTimeout(resolve, FIRST_RETRY_MS));
      if (this.pump()) movedAtMs = performance.now();
    }
    return this.#waiting.reduce((lines, bytes) => lines + countLines(bytes), this.#droppedLines);
  }

  #remove(first: Buffer, bytes: number): void {
    this.#waitingBytes -= bytes;
    if (bytes === first.length) this.#waiting.shift();
    else this.#waiting[0] = first.subarray(bytes);
  }

  #forget(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#droppedLines = 0;
  }

  #tryLater(hasMoved: boolean): void {
    this.#retryMs = hasMoved ? FIRST_RETRY_MS : Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.pump();
    }, this.#retryMs);
    // The process does not wait for a reader to end.
    this.#timer.unref();
  }

  #resume(): void {
    const dropped = this.#droppedLines;
    if (dropped === 0) return;
    this.#droppedLines = 0;
    this.#ports.resumed(dropped);
  }
}

function countLines(text: string | Buffer): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
