import type { Config } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { ListingError } from '../../state/listing.ts';
import { countDifferences } from '../../sync/pass/verification.ts';
import type { VerifyOptions, VerifyResult } from '../api.ts';
import type { RunBase } from '../open-sync.ts';
import { forThisHost } from '../for-this-host.ts';
import { platformName } from '../load.ts';
import { withRecords, type RecordsPlace } from '../read-records.ts';
import type { Stop } from '../stop.ts';
import { SyncError } from '../sync-error.ts';
import { compare, comparison, type VerifyRun } from './compare.ts';
import { repair } from './repair.ts';
import { memoryOf } from './service-memory.ts';
import { withBots } from './with-bots.ts';

/** Compares what the bots have with what was sent, and repairs what the options say. Throws `SyncError`. */
export async function verify(
  base: RunBase,
  loaded: LoadedConfig,
  options: VerifyOptions,
  stop: Stop,
): Promise<VerifyResult> {
  const run = { ...base, loaded: { ...loaded, config: forThisHost(loaded.config) }, options, stop };
  try {
    const isWriting = options.repair === true || options.prune === true;
    if (isWriting) refuseShared(run.loaded.config);
    const result = isWriting ? await repair(run) : await look(run);
    return stop.stop.aborted ? { ...result, outcome: 'interrupted' } : result;
  } catch (error) {
    if (error instanceof ListingError) throw new SyncError('state-file-failed', { reason: error.message });
    if (stop.stop.aborted && error instanceof SyncError)
      throw new SyncError('interrupted', { reason: error.message });
    throw error;
  }
}

/** What other hosts may have is for its holder to repair: nobody else may write its records. */
function refuseShared({ cluster, sources }: Config): void {
  const shared = sources.filter(({ host }) => host === null);
  if (cluster === null || shared.length === 0) return;
  throw new SyncError('usage', {
    reason:
      '--repair and --prune work on the state file of one host, and these sources are in the ledger of the cluster',
    fix: 'run botsync verify without them; the host that holds a unit repairs it by itself, every verify.every',
  });
}

/** Where the records of a comparison are. */
function placeOf({ loaded, target, env }: VerifyRun): RecordsPlace {
  return { loaded, platformName: platformName(target, loaded.config), env };
}

/** Compares, beside whoever may be writing the state file, and writes nothing. */
async function look(run: VerifyRun): Promise<VerifyResult> {
  return await withBots(run, 'verify', (access) =>
    withRecords(placeOf(run), async ({ reader }) => {
      const input = comparison(run, access, reader, memoryOf(reader));
      const verified = await compare(run, {
        ...input,
        onDifference: () => undefined,
        onSame: () => undefined,
      });
      const outcome = countDifferences(verified) + verified.unread > 0 ? 'incomplete' : 'in-sync';
      return { outcome, verified, repaired: null, pruned: null };
    }),
  );
}
