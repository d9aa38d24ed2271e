import { setImmediate } from 'node:timers/promises';
import type { CatalogPage, CatalogQuery } from '../../domain/file-catalog.ts';
import { failed, ok, type OptionalFailure, type Outcome } from '../../domain/failure.ts';
import { PlatformListing } from '../../state/listing.ts';
import { ask, type AskPorts } from './ask.ts';
import type { BotAtTarget, ServedCatalog } from './served-catalog.ts';

/** So many pages are read at most: a list that goes on is taken to have no end. */
const MOST_PAGES = 100_000;

/**
 * Lists all that a bot has, page by page, into a table of its own: memory does not grow with the number of files. The
 * caller closes it. What changes while the pages are read may be missed, or listed as it was. A platform that leads back
 * to a page that was read already has failed. Throws `ListingError`.
 */
export async function readListing(
  at: BotAtTarget,
  catalog: Pick<ServedCatalog, 'list'>,
  ports: AskPorts,
): Promise<Outcome<PlatformListing, OptionalFailure>> {
  const listing = new PlatformListing();
  try {
    const failure = await readPages(at, catalog, ports, listing);
    if (failure === null) return ok(listing);
    listing.close();
    return failed(failure);
  } catch (error) {
    listing.close();
    throw error;
  }
}

/** The next page is asked for before one is taken in: the platform gets on with it in the meantime. No more than one is ahead. */
async function readPages(
  at: BotAtTarget,
  catalog: Pick<ServedCatalog, 'list'>,
  ports: AskPorts,
  listing: PlatformListing,
): Promise<OptionalFailure | null> {
  const seen = new Set<string>();
  const end = new AbortController();
  const askPorts = { ...ports, stop: AbortSignal.any([ports.stop, end.signal]) };
  const askFor = (token: string | null): Promise<Outcome<CatalogPage, OptionalFailure>> => {
    const query: CatalogQuery = { kind: 'page', token };
    return ask((signal) => catalog.list(at, query, signal), askPorts);
  };
  let ahead: ReturnType<typeof askFor> | null = askFor(null);
  try {
    while (ahead !== null) {
      const page: Outcome<CatalogPage, OptionalFailure> = await ahead;
      ahead = null;
      if (page.kind === 'failed') return page.failure;
      const { files, nextToken } = page.value;
      const isEndless = nextToken !== null && (seen.has(nextToken) || seen.size >= MOST_PAGES);
      if (nextToken !== null && !isEndless) {
        seen.add(nextToken);
        ahead = askFor(nextToken);
        // A connection that just had an answer takes the next request in the next turn.
        await setImmediate();
      }
      listing.add(files);
      if (isEndless)
        return {
          kind: 'transient',
          message: 'the list of files does not end: the platform repeats pages',
        };
    }
    return null;
  } finally {
    end.abort();
    await ahead;
  }
}
