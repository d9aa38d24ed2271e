/** How long what others tell has not changed, by our own clock: the clocks of others may say anything. */
export class Standstill<K> {
  readonly #seen = new Map<K, { mark: string; sinceMs: number }>();

  /** Takes note of what was told last, at a moment of the monotonic clock, milliseconds. */
  note(key: K, mark: string, atMs: number): void {
    const seen = this.#seen.get(key);
    if (seen?.mark !== mark) this.#seen.set(key, { mark, sinceMs: atMs });
  }

  /** What was told before counts no more. */
  forget(): void {
    this.#seen.clear();
  }

  /** For how long it has not changed, milliseconds; 0 for what was never told. */
  forMs(key: K, nowMs: number): number {
    const seen = this.#seen.get(key);
    return seen === undefined ? 0 : nowMs - seen.sinceMs;
  }
}
