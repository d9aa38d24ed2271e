import { sizeAndMtimeOf, type Fingerprint } from '../../domain/fingerprint.ts';

/** More than this is not remembered one by one. */
const MOST_REMEMBERED = 100_000;

/** Up to so many are gone through for what lies below a directory. */
const FEW = 1000;

/**
 * The files that are not on the platform as they are. A removed file that looks like one of them was probably renamed,
 * and must not go before it is there under its new key. Renaming and moving keep size and mtime.
 */
export class Unsent {
  /** Looks by place. */
  readonly #places = new Map<string, string>();
  /** How many have these looks. */
  readonly #looks = new Map<string, number>();
  /** Until when the looks of a file that vanished count. */
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
    const looks = sizeAndMtimeOf(fingerprint);
    this.#places.set(placeOf(source, path), looks);
    this.#looks.set(looks, (this.#looks.get(looks) ?? 0) + 1);
  }

  /** A path, with what lies below it, is looked at again: what is found then counts. */
  forget(source: string, path: string): void {
    const place = placeOf(source, path);
    this.#forget(place);
    // Among many it waits for the next pass, which begins anew.
    if (this.#places.size > FEW) return;
    for (const other of this.#places.keys()) if (other.startsWith(`${place}/`)) this.#forget(other);
  }

  /** Takes note of a file that was gone when it was to be sent; until then its new name may not be known. */
  addVanished(fingerprint: Fingerprint, untilMs: number): void {
    const looks = sizeAndMtimeOf(fingerprint);
    this.#vanished.delete(looks);
    this.#vanished.set(looks, untilMs);
    // The oldest goes: long before so many have vanished its time is over.
    if (this.#vanished.size <= MOST_REMEMBERED) return;
    for (const oldest of this.#vanished.keys()) {
      this.#vanished.delete(oldest);
      break;
    }
  }

  /** Whether a file with this fingerprint may be among them. `nowMs`: by the same clock as `untilMs`. */
  mayHave(fingerprint: Fingerprint, nowMs: number): boolean {
    const looks = sizeAndMtimeOf(fingerprint);
    return this.#hasForgotten || this.#looks.has(looks) || nowMs < (this.#vanished.get(looks) ?? -Infinity);
  }

  #forget(place: string): void {
    const looks = this.#places.get(place);
    if (looks === undefined) return;
    this.#places.delete(place);
    const others = (this.#looks.get(looks) ?? 1) - 1;
    if (others === 0) this.#looks.delete(looks);
    else this.#looks.set(looks, others);
  }
}

function placeOf(source: string, path: string): string {
  return `${source}\n${path}`;
}
