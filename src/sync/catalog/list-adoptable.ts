import type { FileKey } from '../../domain/key.ts';
import type { ListedFile } from '../../domain/file-catalog.ts';
import { ListingError, type PlatformListing } from '../../store/listing.ts';
import type { StateReader } from '../../store/state-reader.ts';
import type { FoundSource } from '../sources/source.ts';
import type { AskPorts } from './ask.ts';
import { readListing } from './read-listing.ts';
import type { BotAtTarget, ServedCatalog } from './served-catalog.ts';

/** What listing takes. */
export interface ListAdoptableInput {
  readonly state: Pick<StateReader, 'remote' | 'targetId'>;
  readonly catalog: Pick<ServedCatalog, 'list' | 'serves'>;
  /** Takes the lists. */
  readonly listings: Listings;
  readonly ports: AskPorts;
  /** Told of each source of which nothing, or not everything, is on record. */
  readonly onDue: (target: number, source: string) => void;
  /** Told why files that the platform has may be sent again. */
  readonly warn: (message: string) => void;
}

/**
 * Lists what the platform has at the targets of sources of which nothing is on record: the state file is new, or was lost.
 * What is found there need not be sent. Where that cannot be found out, everything is sent.
 */
export async function listAdoptable(
  found: readonly FoundSource[],
  { state, catalog, listings, ports, onDue, warn }: ListAdoptableInput,
): Promise<void> {
  const bots = new Map<number, string>();
  for (const one of found) {
    if (one.kind === 'missing') continue;
    const target = state.targetId(one.source.syncTarget);
    if (!state.remote.isAdoptionDue(target, one.config.name)) continue;
    onDue(target, one.config.name);
    bots.set(target, one.config.botId);
  }
  for (const [target, botId] of bots) {
    if (ports.stop.aborted) return;
    if (!catalog.serves(target, 'list')) continue;
    const failure = await listOne({ target, botId }, catalog, ports, listings);
    if (failure !== null)
      warn(
        `bot ${botId}: its files cannot be listed, so files that it already has are sent again: ${failure}`,
      );
  }
}

/** Lists one bot. Returns why that did not work; `null`: it did, was stopped, or the uploads tell why. */
async function listOne(
  at: BotAtTarget,
  catalog: Pick<ServedCatalog, 'list'>,
  ports: AskPorts,
  listings: Listings,
): Promise<string | null> {
  try {
    const listed = await readListing(at, catalog, ports);
    if (listed.kind === 'failed') {
      const isToldByUploads = listed.failure.kind === 'credentials';
      return ports.stop.aborted || isToldByUploads ? null : listed.failure.message;
    }
    listings.add(at.target, listed.value);
    return null;
  } catch (error) {
    if (error instanceof ListingError) return error.message;
    throw error;
  }
}

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
