import { Bag, type BagItem } from '../domain/bag.ts';
import { nameOf, readSendQueues, type SendQueues, takenBytes } from './tcp-socket.ts';
import type { Socket } from 'node:net';
import { type Throughput, waitLimitMs } from '../domain/throughput.ts';

/** The phase in which nothing moves. */
export type Stall = 'sending' | 'waiting' | 'answering';

/** An answer must be complete within this many stall timeouts: a byte now and then is no progress. */
const ANSWER_TIMEOUTS = 2;

/** The most content that buffers of the other side can hold. */
const MOST_BUFFERED_BYTES = 512 * 1024;

/** The rate of the last seconds decides how long the other side may take. */
const RATE_SECONDS = 60;

export interface WatchedBody {
  readonly sizeBytes: number;
  /** Counts the bytes that the other side has received; `null`: the body is not the content of a file. */
  readonly throughput: Throughput | null;
}

/** Watches whether anything of one request moves. Times are monotonic milliseconds. */
export class RequestWatch implements BagItem {
  bagIndex = -1;
  readonly #body: WatchedBody;
  readonly #owner: { readonly giveUp: (stall: Stall) => void };
  #socket: Socket | null = null;
  #phase: 'not-sent' | 'sending' | 'answering' = 'not-sent';
  /** Bytes that the kernel had accepted on the connection before this request. */
  #takenBefore = 0;
  /** Bytes of the request that the other side has received, as far as the kernel knows. */
  #movedBytes = 0;
  /** Bytes of the body that were counted. */
  #countedBytes = 0;
  #lastMovedMs = 0;
  /** The other side waits for us: for the disk, or our own limits. */
  #isOurTurn = false;
  #notedMs = 0;

  /** @param owner - is asked to give up the request when nothing has moved for too long. */
  constructor(body: WatchedBody, owner: { readonly giveUp: (stall: Stall) => void }) {
    this.#body = body;
    this.#owner = owner;
  }

  /** The connection of the request; `null` before it has one. */
  get socket(): Socket | null {
    return this.#socket;
  }

  /** Bytes of content that may be in buffers of the other side, which are invisible. */
  get bufferedBytes(): number {
    const isContent = this.#body.throughput !== null;
    return this.#phase === 'sending' && isContent ? Math.min(this.#body.sizeBytes, MOST_BUFFERED_BYTES) : 0;
  }

  /** The request is being sent on a connection. */
  begin(socket: Socket, nowMs: number): void {
    this.#socket = socket;
    this.#phase = 'sending';
    this.#takenBefore = takenBytes(socket);
    this.#lastMovedMs = this.#notedMs = nowMs;
  }

  /** The next part of the body is being prepared (`ours`), or was handed over. */
  turn(whose: 'ours' | 'theirs', nowMs: number): void {
    this.#isOurTurn = whose === 'ours';
    this.#lastMovedMs = nowMs;
    // Our own time says nothing about the speed of the other side.
    if (whose === 'theirs') this.#notedMs = nowMs;
  }

  answer(nowMs: number): void {
    this.#phase = 'answering';
    this.#lastMovedMs = nowMs;
  }

  /** Ends the watch. `isDone`: the whole body was received. */
  end(isDone: boolean, nowMs: number): void {
    if (isDone) this.#count(this.#body.sizeBytes, nowMs);
    this.#phase = 'not-sent';
  }

  /** Returns whether nothing moved for this long. */
  isQuietFor(ms: number, nowMs: number): boolean {
    return this.#phase === 'sending' && !this.#isOurTurn && nowMs - this.#lastMovedMs >= ms;
  }

  /** Excludes a time without checks. */
  excuse(ms: number): void {
    this.#lastMovedMs += ms;
  }

  /**
   * Checks whether anything moved, and gives up the request when nothing has for too long.
   *
   * @param queues - the current send queues of the kernel; `null`: not read.
   * @param allBufferedBytes - of all requests (see `bufferedBytes`).
   */
  check(queues: SendQueues | null, allBufferedBytes: number, stallTimeoutMs: number, nowMs: number): void {
    if (this.#socket === null || this.#phase === 'not-sent') return;
    const quietMs = nowMs - this.#lastMovedMs;
    if (this.#phase === 'answering') {
      if (quietMs >= stallTimeoutMs * ANSWER_TIMEOUTS) this.#owner.giveUp('answering');
      return;
    }
    if (queues === null) return;
    const queue = queues.get(nameOf(this.#socket)) ?? null;
    const unacknowledgedBytes = queue?.unacknowledgedBytes ?? 0;
    const through = takenBytes(this.#socket) - this.#takenBefore - unacknowledgedBytes;
    if (through > this.#movedBytes) {
      this.#movedBytes = through;
      this.#lastMovedMs = nowMs;
      this.#count(Math.min(through, this.#body.sizeBytes), nowMs);
    } else if (this.#isOurTurn) this.#lastMovedMs = nowMs;
    else {
      // Bytes that were sent repeatedly without an acknowledgement: the connection is dead.
      const isDead = queue !== null && unacknowledgedBytes > 0 && !queue.isAskedToWait;
      const limitMs = isDead ? stallTimeoutMs : this.#waitLimitMs(allBufferedBytes, stallTimeoutMs);
      if (quietMs < limitMs) return;
      const isAllTaken = unacknowledgedBytes === 0 && this.#socket.writableLength === 0;
      this.#owner.giveUp(isAllTaken ? 'waiting' : 'sending');
    }
  }

  #waitLimitMs(allBufferedBytes: number, stallTimeoutMs: number): number {
    const { throughput } = this.#body;
    const standing = {
      ownBytes: this.bufferedBytes,
      allBytes: allBufferedBytes,
      bytesPerSecond: throughput?.perSecond(RATE_SECONDS) ?? null,
    };
    return waitLimitMs(standing, stallTimeoutMs);
  }

  #count(bytes: number, nowMs: number): void {
    this.#body.throughput?.note(Math.max(0, bytes - this.#countedBytes), this.#notedMs, nowMs);
    this.#countedBytes = Math.max(this.#countedBytes, bytes);
    this.#notedMs = nowMs;
  }
}

/** Number of checks per stall timeout. */
const CHECKS_A_TIMEOUT = 8;

/**
 * Gives up requests in which nothing moves for `stallTimeout`, however long they take in total.
 *
 * Progress is seen at the connection: what was written, what the kernel has not accepted, and, on Linux, what the other
 * side has not acknowledged. One timer serves all requests, and runs only while there are any.
 */
export class StallMonitor {
  readonly #stallTimeoutMs: number;
  readonly #periodMs: number;
  readonly #watches = new Bag<RequestWatch>();
  #timer: NodeJS.Timeout | null = null;
  #lastCheckMs = 0;

  constructor(stallTimeoutMs: number) {
    this.#stallTimeoutMs = stallTimeoutMs;
    this.#periodMs = Math.max(1, stallTimeoutMs / CHECKS_A_TIMEOUT);
  }

  /** The running requests. */
  get watches(): Iterable<RequestWatch> {
    return this.#watches;
  }

  add(watch: RequestWatch): void {
    this.#watches.add(watch);
    if (this.#watches.size === 1 && this.#timer === null) this.#lastCheckMs = performance.now();
    this.#schedule();
  }

  delete(watch: RequestWatch): void {
    this.#watches.delete(watch);
    if (this.#watches.size > 0 || this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  #schedule(): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      void this.#check();
    }, this.#periodMs);
  }

  async #check(): Promise<void> {
    this.#timer = null;
    const began = performance.now();
    const isAnyQuiet = [...this.#watches].some((watch) => watch.isQuietFor(this.#periodMs / 2, began));
    // Reads the queues only if some request is quiet; the others are not judged by them.
    const queues = isAnyQuiet ? await readSendQueues() : null;
    const nowMs = performance.now();
    // While the machine slept or the event loop was blocked, nothing was observed, though something may have moved.
    const missedMs = nowMs - this.#lastCheckMs - 2 * this.#periodMs;
    this.#lastCheckMs = nowMs;
    const allBufferedBytes = [...this.#watches].reduce((sum, watch) => sum + watch.bufferedBytes, 0);
    for (const watch of [...this.#watches]) {
      if (missedMs > 0) watch.excuse(missedMs);
      watch.check(queues, allBufferedBytes, this.#stallTimeoutMs, nowMs);
    }
    if (this.#watches.size > 0) this.#schedule();
  }
}
