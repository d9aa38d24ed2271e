import type { Socket } from 'node:net';
import type { BagItem } from '../domain/bag.ts';
import type { Throughput } from '../domain/throughput.ts';
import { waitLimitMs } from '../domain/wait-limit.ts';
import { pendingBytes } from './raw-socket.ts';
import { nameOf, type SendQueues } from './send-queue.ts';

/** At what a request stands still. */
export type Stall = 'sending' | 'waiting' | 'answering';

/** An answer must be complete within so many stall timeouts of its beginning: a byte now and then is no progress. */
const ANSWER_TIMEOUTS = 2;

/** More of a content than this does not wait in buffers of the other side, bytes. */
const MOST_BUFFERED_BYTES = 512 * 1024;

/** By the rate of so many seconds it is judged how long the other side may take. */
const RATE_SECONDS = 60;

/** A body whose way out is watched. */
export interface WatchedBody {
  readonly sizeBytes: number;
  /** Counts the bytes that get through; `null`: the body is no content of a file. */
  readonly throughput: Throughput | null;
}

/** Watches one request: whether anything of it moves. Times are of the monotonic clock, milliseconds. */
export class RequestWatch implements BagItem {
  bagIndex = -1;
  readonly #body: WatchedBody;
  readonly #owner: { readonly giveUp: (stall: Stall) => void };
  #socket: Socket | null = null;
  #phase: 'not-sent' | 'sending' | 'answering' = 'not-sent';
  /** What the connection had written before. */
  #writtenBefore = 0;
  /** Bytes of the request that the other side has, as far as the kernel tells. */
  #movedBytes = 0;
  /** Those of its body that were counted. */
  #countedBytes = 0;
  #lastMovedMs = 0;
  /** Whether we are the ones that are waited for: the disk, or our own limits. */
  #isOurTurn = false;
  #notedMs = 0;

  /** @param owner - told to give the request up when nothing has moved for too long. */
  constructor(body: WatchedBody, owner: { readonly giveUp: (stall: Stall) => void }) {
    this.#body = body;
    this.#owner = owner;
  }

  /** The connection that the request goes over; `null` before it has one. */
  get socket(): Socket | null {
    return this.#socket;
  }

  /** Bytes of content that may lie in buffers of the other side, where nobody can see them. */
  get bufferedBytes(): number {
    const isContent = this.#body.throughput !== null;
    return this.#phase === 'sending' && isContent ? Math.min(this.#body.sizeBytes, MOST_BUFFERED_BYTES) : 0;
  }

  /** The request goes out on a connection. */
  begin(socket: Socket, nowMs: number): void {
    this.#socket = socket;
    this.#phase = 'sending';
    this.#writtenBefore = socket.bytesWritten;
    this.#lastMovedMs = this.#notedMs = nowMs;
  }

  /** The next part of the body is waited for (`ours`), or was handed over. */
  turn(whose: 'ours' | 'theirs', nowMs: number): void {
    this.#isOurTurn = whose === 'ours';
    this.#lastMovedMs = nowMs;
    // How long we took says nothing of how fast the other side is.
    if (whose === 'theirs') this.#notedMs = nowMs;
  }

  /** The answer has begun. */
  answer(nowMs: number): void {
    this.#phase = 'answering';
    this.#lastMovedMs = nowMs;
  }

  /** The request is over. `isDone`: the whole body got through. */
  end(isDone: boolean, nowMs: number): void {
    if (isDone) this.#count(this.#body.sizeBytes, nowMs);
    this.#phase = 'not-sent';
  }

  /** Whether nothing was seen to move for so long. */
  isQuietFor(ms: number, nowMs: number): boolean {
    return this.#phase === 'sending' && !this.#isOurTurn && nowMs - this.#lastMovedMs >= ms;
  }

  /** Nobody checked for a while: that time does not count. */
  excuse(ms: number): void {
    this.#lastMovedMs += ms;
  }

  /**
   * Checks whether anything moved, and gives the request up when nothing has for too long.
   *
   * @param queues - of the kernel, as they are now; `null`: they were not read.
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
    const pending = pendingBytes(this.#socket);
    const waitingBytes = pending + (queue?.unacknowledgedBytes ?? 0);
    const through = this.#socket.bytesWritten - this.#writtenBefore - waitingBytes;
    if (through > this.#movedBytes) {
      this.#movedBytes = through;
      this.#lastMovedMs = nowMs;
      this.#count(Math.min(through, this.#body.sizeBytes), nowMs);
    } else if (this.#isOurTurn) this.#lastMovedMs = nowMs;
    else {
      // Bytes that nobody acknowledges, though they were sent again and again: the line is dead.
      const isDead = queue !== null && queue.unacknowledgedBytes > 0 && !queue.isAskedToWait;
      const limitMs = isDead ? stallTimeoutMs : this.#waitLimitMs(allBufferedBytes, stallTimeoutMs);
      if (quietMs >= limitMs) this.#owner.giveUp(waitingBytes > 0 ? 'sending' : 'waiting');
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
