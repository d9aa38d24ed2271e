/**
 * So many bytes a second for all slow uploads together. What it does not read stays with the kernel, and from there in
 * the sender's: a request that is paused is not read.
 */
export class SlowStore {
  #bytesPerSecond;
  #keyPrefix;
  /** When everything that was read so far has been paid for, milliseconds. */
  #freeAtMs = 0;

  /** `keyPrefix`: only uploads of such keys are slow. */
  constructor({ bytesPerSecond, keyPrefix = '' }) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#keyPrefix = keyPrefix;
  }

  /** Reads the body of a request at the store's pace. */
  slow(request, key) {
    if (!key.startsWith(this.#keyPrefix)) return;
    request.on('data', (chunk) => {
      const nowMs = performance.now();
      this.#freeAtMs = Math.max(this.#freeAtMs, nowMs) + (chunk.length / this.#bytesPerSecond) * 1000;
      request.pause();
      setTimeout(() => request.resume(), this.#freeAtMs - nowMs);
    });
  }
}
