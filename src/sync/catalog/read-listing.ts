import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../domain/clock.ts';
import type { CatalogPage, CatalogQuery } from '../../domain/file-catalog.ts';
import { failed, ok, type OptionalFailure, type Outcome } from '../../domain/failure.ts';
import { PlatformListing } from '../../store/listing.ts';
import { ask, type AskPorts } from './ask.ts';
import type { BotAtTarget, ServedCatalog } from './served-catalog.ts';

/** A list that goes beyond any of these is taken to have no end (docs/decisions/0065-lists-without-an-end.md). */
interface ListLimits {
  readonly pages: number;
  /** Of what is kept of the files. */
  readonly bytes: number;
  readonly ms: number;
}

const LIMITS: ListLimits = { pages: 20_000, bytes: 500_000_000, ms: 15 * 60_000 };

/**
 * Lists all that a bot has, page by page, into a table of its own: memory does not grow with the number of files. The
 * caller closes it. What changes while the pages are read may be missed, or listed as it was. A list that does not end is a
 * failure. Throws `ListingError`.
 */
export async function readListing(
  at: BotAtTarget,
  catalog: Pick<ServedCatalog, 'list'>,
  ports: AskPorts,
  limits = LIMITS,
): Promise<Outcome<PlatformListing, OptionalFailure>> {
  const listing = new PlatformListing();
  try {
    const failure = await readPages(at, catalog, ports, new ListEnd(ports.clock, limits), listing);
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
  listEnd: ListEnd,
  listing: PlatformListing,
): Promise<OptionalFailure | null> {
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
      const endless = listEnd.missedBy(page.value, listing.bytes);
      if (endless !== null)
        return { kind: 'transient', message: `the list of files does not end: ${endless}` };
      if (nextToken !== null) {
        ahead = askFor(nextToken);
        // A connection that just had an answer takes the next request in the next turn.
        await setImmediate();
      }
      listing.add(files);
    }
    return null;
  } finally {
    end.abort();
    await ahead;
  }
}

/** Notices that a list does not come to an end. */
class ListEnd {
  readonly #clock: Clock;
  readonly #limits: ListLimits;
  readonly #beganMs: number;
  readonly #tokens = new Set<string>();
  /** Ids of the files that pages began with: a platform may answer ever new tokens with the same page. */
  readonly #firstIds = new Set<string>();

  constructor(clock: Clock, limits: ListLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#beganMs = clock.monotonic();
  }

  /** Takes note of a page. Returns why the list does not end; `null`: it may. `bytes`: kept of the pages before. */
  missedBy({ files, nextToken }: CatalogPage, bytes: number): string | null {
    const [first] = files;
    if (first !== undefined && this.#firstIds.has(first.id)) return 'the platform repeats pages';
    if (first !== undefined) this.#firstIds.add(first.id);
    if (nextToken === null) return null;
    if (this.#tokens.has(nextToken)) return 'the platform repeats pages';
    this.#tokens.add(nextToken);
    const { pages, bytes: mostBytes, ms } = this.#limits;
    if (this.#tokens.size >= pages) return `it has more than ${pages.toLocaleString('en')} pages`;
    if (bytes > mostBytes) return `it has more than ${Math.round(mostBytes / 1_000_000)} MB`;
    if (this.#clock.monotonic() - this.#beganMs <= ms) return null;
    return `it takes longer than ${Math.round(ms / 60_000)} minutes`;
  }
}
