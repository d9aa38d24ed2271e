import { sizeAndMtimeOf, type Fingerprint } from '../../domain/fingerprint.ts';
import { Multiset } from '../../domain/bag.ts';

/** More than this is not remembered one by one. */
const MOST_REMEMBERED = 100_000;

/** Up to so many are gone through for what lies below a directory. */
const FEW = 1000;

/**
 * The files that are not on the platform as they are. A removed file with the size and mtime of one of them was probably renamed,
 * and must not go before it is there under its new key. Renaming and moving keep both.
 */
export class Unsent {
  /** Size and mtime, by place. */
  readonly #places = new Map<string, string>();
  readonly #sizesAndMtimes = new Multiset();
  /** Until when the size and mtime of a file that vanished count. */
  readonly #vanished = new Map<string, number>();
  /** Whether there were more than are remembered: it may be any file, then. */
  #hasForgotten = false;

  /** Takes note of a file that was not sent. */
  add(source: string, path: string, fingerprint: Fingerprint): void {
    this.#forget(placeOf(source, path));
    if (this.#places.size >= MOST_REMEMBERED) {
      this.#hasForgotten = true;
      return;
    }
    const sizeAndMtime = sizeAndMtimeOf(fingerprint);
    this.#places.set(placeOf(source, path), sizeAndMtime);
    this.#sizesAndMtimes.add(sizeAndMtime);
  }

  /** A path, with what lies below it, is rescanned: what is found then counts. */
  forget(source: string, path: string): void {
    const place = placeOf(source, path);
    this.#forget(place);
    // Among many it waits for the next pass, which begins again.
    if (this.#places.size > FEW) return;
    for (const other of this.#places.keys()) if (other.startsWith(`${place}/`)) this.#forget(other);
  }

  /** Takes note of a file that was gone when it was to be sent; until then its new name may not be known. */
  addVanished(fingerprint: Fingerprint, untilMs: number): void {
    const sizeAndMtime = sizeAndMtimeOf(fingerprint);
    this.#vanished.delete(sizeAndMtime);
    this.#vanished.set(sizeAndMtime, untilMs);
    // The oldest goes: long before so many have vanished its time is over.
    if (this.#vanished.size <= MOST_REMEMBERED) return;
    for (const oldest of this.#vanished.keys()) {
      this.#vanished.delete(oldest);
      break;
    }
  }

  /** Whether a file with this fingerprint may be among them. `nowMs`: by the same clock as `untilMs`. */
  mayHave(fingerprint: Fingerprint, nowMs: number): boolean {
    const sizeAndMtime = sizeAndMtimeOf(fingerprint);
    return (
      this.#hasForgotten ||
      this.#sizesAndMtimes.has(sizeAndMtime) ||
      nowMs < (this.#vanished.get(sizeAndMtime) ?? -Infinity)
    );
  }

  #forget(place: string): void {
    const sizeAndMtime = this.#places.get(place);
    if (sizeAndMtime === undefined) return;
    this.#places.delete(place);
    this.#sizesAndMtimes.delete(sizeAndMtime);
  }
}

function placeOf(source: string, path: string): string {
  return `${source}\n${path}`;
}
