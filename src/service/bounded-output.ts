/** How long is waited before a reader that had no room is retried, milliseconds: at first, and at most. */
const FIRST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 200;

/** What a bounded output is given. */
export interface BoundedOutputPorts {
  /** Takes what there is room for now and says how many bytes that was, without waiting; `null`: nobody will read it. */
  readonly take: (bytes: Buffer) => number | null;
  /** Lines are dropped from now on, until the reader has taken all that waits for it. */
  readonly dropping: () => void;
  /** The reader is back; so many lines were dropped, here. What this writes comes next. */
  readonly resumed: (droppedLines: number) => void;
}

/**
 * Whole lines for a reader that may take its time: what it does not take at once waits, up to a bound; beyond it lines
 * are dropped and counted. Nothing here waits for the reader.
 */
export class BoundedOutput {
  readonly #mostBytes: number;
  readonly #ports: BoundedOutputPorts;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #droppedLines = 0;
  #retryMs = FIRST_RETRY_MS;
  #timer: NodeJS.Timeout | null = null;

  /** @param mostBytes - of what waits. One text that is longer waits all the same: a line that was begun is ended. */
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

  /** Hands on what the reader has room for; the rest is retried by itself. Returns whether it took anything. */
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
   * Waits until the reader has everything, as long as it goes on reading. Returns how many lines it did not get.
   *
   * @param patienceMs - for a reader that reads nothing.
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
    // The end of the process does not wait for a reader.
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
