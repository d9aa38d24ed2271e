import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../domain/clock.ts';
import type { CatalogPage, CatalogQuery } from '../../domain/file-catalog.ts';
import { failed, ok, type OptionalFailure, type Outcome } from '../../domain/failure.ts';
import { PlatformListing } from '../../store/listing.ts';
import { ask, type AskPorts } from './ask.ts';
import type { BotAtTarget, ServedCatalog } from './served-catalog.ts';

/** A list beyond any of these limits is considered endless (docs/decisions/0032-lists.md). */
interface ListLimits {
  readonly pages: number;
  /** Stored about the files. */
  readonly bytes: number;
  readonly ms: number;
}

const LIMITS: ListLimits = { pages: 20_000, bytes: 500_000_000, ms: 15 * 60_000 };

/**
 * Lists the files of a bot, page by page, into a temporary database, so that memory does not grow with their number.
 * The caller closes it. Changes made while the pages are read may be missed. An endless list is a failure.
 *
 * @throws {ListingError}
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

/**
 * Requests the next page before it stores the current one, so that the platform can work in the meantime. At most one
 * page is ahead.
 */
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
        // The connection of the last answer can take the next request in the next turn.
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

/** Detects endless lists. */
class ListEnd {
  readonly #clock: Clock;
  readonly #limits: ListLimits;
  readonly #beganMs: number;
  readonly #tokens = new Set<string>();
  /** The first file ids of the pages: a platform may return the same page for each new token. */
  readonly #firstIds = new Set<string>();

  constructor(clock: Clock, limits: ListLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#beganMs = clock.monotonic();
  }

  /** Notes a page. Returns why the list is endless; `null` if it may end. `bytes`: stored of earlier pages. */
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
