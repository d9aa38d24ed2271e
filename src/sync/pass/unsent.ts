import { sizeAndMtimeOf, type Fingerprint } from '../../domain/fingerprint.ts';
import { Multiset } from '../../domain/bag.ts';

/** The most files that are remembered individually. */
const MOST_REMEMBERED = 100_000;

/** Up to this many files are searched for those below a directory. */
const FEW = 1000;

/**
 * The files that the platform does not have as they are. A deleted file with the size and mtime of one of them was
 * probably renamed (which keeps both), and must not be removed before it is uploaded under its new key.
 */
export class Unsent {
  /** Size and mtime, by place. */
  readonly #places = new Map<string, string>();
  readonly #sizesAndMtimes = new Multiset();
  /** Until when the size and mtime of a vanished file count. */
  readonly #vanished = new Map<string, number>();
  /** There were too many to remember: any file may be among them. */
  #hasForgotten = false;

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

  /** Forgets a path and everything below it, because it is rescanned. */
  forget(source: string, path: string): void {
    const place = placeOf(source, path);
    this.#forget(place);
    // Where there are many, they stay until the next pass, which begins a new round.
    if (this.#places.size > FEW) return;
    for (const other of this.#places.keys()) if (other.startsWith(`${place}/`)) this.#forget(other);
  }

  /** Adds a file that was gone when it was due to be sent. Until `untilMs`, its new name may be unknown. */
  addVanished(fingerprint: Fingerprint, untilMs: number): void {
    const sizeAndMtime = sizeAndMtimeOf(fingerprint);
    this.#vanished.delete(sizeAndMtime);
    this.#vanished.set(sizeAndMtime, untilMs);
    // Drops the oldest, which has expired long before so many files have vanished.
    if (this.#vanished.size <= MOST_REMEMBERED) return;
    for (const oldest of this.#vanished.keys()) {
      this.#vanished.delete(oldest);
      break;
    }
  }

  /** Returns whether a file with this fingerprint may be among them. `nowMs`: by the same clock as `untilMs`. */
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
