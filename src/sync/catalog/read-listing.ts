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

async function readPages(
  at: BotAtTarget,
  catalog: Pick<ServedCatalog, 'list'>,
  ports: AskPorts,
  listing: PlatformListing,
): Promise<OptionalFailure | null> {
  const seen = new Set<string>();
  for (let token: string | null = null; ;) {
    const query: CatalogQuery = { kind: 'page', token };
    const page: Outcome<CatalogPage, OptionalFailure> = await ask(
      (signal) => catalog.list(at, query, signal),
      ports,
    );
    if (page.kind === 'failed') return page.failure;
    listing.add(page.value.files);
    token = page.value.nextToken;
    if (token === null) return null;
    if (seen.has(token) || seen.size >= MOST_PAGES)
      return { kind: 'transient', message: 'the list of files has no end: the platform names pages again' };
    seen.add(token);
  }
}
