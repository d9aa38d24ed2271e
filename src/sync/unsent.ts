import type { Fingerprint } from '../domain/fingerprint.ts';

/** More than this is not remembered one by one. */
const MOST_REMEMBERED = 100_000;

/**
 * The files of a pass that are not on the platform as they are. A removed file that looks like one of them was
 * probably renamed, and must not go before it is there under its new key. Renaming and moving keep size and mtime.
 */
export class Unsent {
  readonly #looks = new Set<string>();

  /** Takes note of a file that was not sent. */
  add(fingerprint: Fingerprint): void {
    if (this.#looks.size < MOST_REMEMBERED) this.#looks.add(looksOf(fingerprint));
  }

  /** Whether a file with this fingerprint may be among them. */
  mayHave(fingerprint: Fingerprint): boolean {
    return this.#looks.size >= MOST_REMEMBERED || this.#looks.has(looksOf(fingerprint));
  }
}

/** Size and mtime. */
function looksOf(fingerprint: Fingerprint): string {
  return fingerprint.split(':', 2).join(':');
}
