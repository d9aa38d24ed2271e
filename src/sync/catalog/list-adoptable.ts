import type { FileKey } from '../../domain/key.ts';
import type { ListedFile } from '../../domain/file-catalog.ts';
import { ListingError, type PlatformListing } from '../../store/listing.ts';
import type { StateReader } from '../../store/state-reader.ts';
import type { FoundSource } from '../sources/source.ts';
import type { AskPorts } from './ask.ts';
import { readListing } from './read-listing.ts';
import type { BotAtTarget, ServedCatalog } from './served-catalog.ts';

export interface ListAdoptableInput {
  readonly state: Pick<StateReader, 'remote' | 'targetId'>;
  readonly catalog: Pick<ServedCatalog, 'list' | 'serves'>;
  readonly listings: Listings;
  readonly ports: AskPorts;
  /** Called for each source whose files are not all on record. */
  readonly onDue: (target: number, source: string) => void;
  /** Reports why files that the platform already has may be sent again. */
  readonly warn: (message: string) => void;
}

/**
 * Lists the platform's files at targets of sources without complete records: the state file is new or was lost. Files
 * found there need not be sent. If listing fails, everything is sent.
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

/**
 * Lists the files of one bot. Returns why that failed; `null`: it succeeded, was stopped, or the uploads will report
 * the reason.
 */
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

/** The platform's files at targets without complete records. */
export class Listings {
  readonly #byTarget = new Map<number, PlatformListing>();

  /** Adds the list of a target; `close` closes it. */
  add(target: number, listing: PlatformListing): void {
    this.#byTarget.set(target, listing);
  }

  /** Returns the platform's file under a key; `null`: there is none, or it is unknown. */
  find(target: number, key: FileKey): ListedFile | null {
    return this.#byTarget.get(target)?.find(key) ?? null;
  }

  /**
   * Closes and forgets all lists.
   *
   * @throws {ListingError}
   */
  close(): void {
    const listings = [...this.#byTarget.values()];
    this.#byTarget.clear();
    for (const listing of listings) listing.close();
  }
}
