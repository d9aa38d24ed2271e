import type { FoundSource } from '../sources/source.ts';
import { ListingError } from '../../state/listing.ts';
import { readListing } from '../catalog/read-listing.ts';
import type { ServedCatalog } from '../catalog/served-catalog.ts';
import type { PassContext } from './sync-context.ts';

/**
 * Lists what the platform has at the targets of sources of which nothing is on record: the state file is new, or was lost.
 * What is found there need not be sent. Where that cannot be found out, everything is sent.
 */
export async function listPlatform(found: readonly FoundSource[], context: PassContext): Promise<void> {
  const { state, catalog, config, stop } = context;
  if (catalog === null || !config.platform.mark) return;
  const bots = new Map<number, string>();
  for (const one of found) {
    if (one.kind === 'missing') continue;
    const target = state.targetId(one.source.syncTarget);
    if (!state.remote.isAdoptionDue(target, one.config.name)) continue;
    state.remote.beginAdoption(target, one.config.name);
    bots.set(target, one.config.botId);
  }
  for (const [target, botId] of bots) {
    if (stop.aborted || !catalog.serves(target, 'list')) continue;
    const failure = await listOne({ target, botId }, catalog, context);
    if (failure !== null && !context.stop.aborted)
      context.report.warn(
        `bot ${botId}: what it has cannot be found out, so files that it has already are sent again: ${failure}`,
      );
  }
}

/** Lists one bot. Returns why that did not work; `null`: it did. */
async function listOne(
  at: { readonly target: number; readonly botId: string },
  catalog: ServedCatalog,
  { clock, random, stop, config, report, round }: PassContext,
): Promise<string | null> {
  const ports = {
    clock,
    random,
    patienceMs: config.upload.giveUpAfterMs,
    onRetry: (reason: string, delayMs: number) => {
      report.retrying(`bot ${at.botId}`, reason, delayMs);
    },
    stop,
  };
  try {
    const listed = await readListing(at, catalog, ports);
    if (listed.kind === 'failed') return listed.failure.message;
    round.listings.add(at.target, listed.value);
    return null;
  } catch (error) {
    if (error instanceof ListingError) return error.message;
    throw error;
  }
}
