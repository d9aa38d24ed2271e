import type { LoadedConfig } from '../config/load-config.ts';
import type { StateReader } from '../state/state-reader.ts';
import { systemClock } from '../service/system-clock.ts';
import { listAdoptable } from '../sync/catalog/list-adoptable.ts';
import { Listings } from '../sync/catalog/listings.ts';
import { ServedCatalog } from '../sync/catalog/served-catalog.ts';
import type { FoundSource } from '../sync/sources/source.ts';
import { noticesIn, withPlatform } from './platform/platform-access.ts';
import type { RunBase } from './open-sync.ts';
import { SyncError } from './sync-error.ts';

/**
 * What the platform has of sources of which nothing is on record, as a pass would find it; where it cannot be asked, the
 * reason is told, and the plan is made as if it had nothing. No request is made while all is on record.
 */
export async function listForPlan(
  { env, log, feed }: Pick<RunBase, 'env' | 'log' | 'feed'>,
  loaded: LoadedConfig,
  found: readonly FoundSource[],
  state: StateReader,
  stop: AbortSignal,
): Promise<Listings> {
  const listings = new Listings();
  const { config } = loaded;
  const isDue = found.some(
    (one) =>
      one.kind === 'found' &&
      state.remote.isAdoptionDue(state.targetId(one.source.syncTarget), one.config.name),
  );
  if (!isDue || !config.platform.mark || config.platform.operations === 'specified') return listings;
  const warn = (message: string): void => {
    feed.warn(message);
  };
  const notices = noticesIn(log);
  const run = { loaded, useEmulator: false, env, command: 'sync --dry-run', clock: systemClock, notices };
  try {
    await withPlatform(run, async ({ clients }) => {
      const catalog = clients.catalog();
      if (catalog === null) return;
      const memory = {
        unserved: state.remote.unserved.bind(state.remote),
        // Nothing is written: a pass finds out for itself.
        noteUnserved: () => undefined,
        noteServed: () => undefined,
      };
      await listAdoptable(found, {
        state,
        catalog: new ServedCatalog(catalog, memory, systemClock, warn),
        listings,
        ports: {
          clock: systemClock,
          random: Math.random,
          patienceMs: PATIENCE_MS,
          onRetry: notices.retrying,
          stop,
        },
        onDue: () => undefined,
        warn,
      });
    });
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    warn(
      `the files on the platform are not known, so the plan assumes that there are none: ${error.message}`,
    );
  }
  return listings;
}

/** A plan is not worth waiting longer for an answer, milliseconds. */
const PATIENCE_MS = 10_000;
