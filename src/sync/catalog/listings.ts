import type { FileKey } from '../../domain/brands.ts';
import type { ListedFile } from '../../domain/file-catalog.ts';
import type { PlatformListing } from '../../state/listing.ts';

/** What the platform was found to have at targets of which nothing, or not everything, is on record. */
export class Listings {
  readonly #byTarget = new Map<number, PlatformListing>();

  /** Takes the list of a target; it is closed with the others. */
  add(target: number, listing: PlatformListing): void {
    this.#byTarget.set(target, listing);
  }

  /** What the platform has under a key; `null`: nothing, or that is not known. */
  find(target: number, key: FileKey): ListedFile | null {
    return this.#byTarget.get(target)?.find(key) ?? null;
  }

  /** Lets go of all lists: from now on nothing is known. Throws `ListingError`. */
  close(): void {
    const listings = [...this.#byTarget.values()];
    this.#byTarget.clear();
    for (const listing of listings) listing.close();
  }
}
