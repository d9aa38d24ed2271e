import type { LoadedConfig } from '../../config/load-config.ts';
import { ListingError } from '../../store/listing.ts';
import { countDifferences } from '../../sync/pass/verification.ts';
import type { VerifyOptions, VerifyResult } from '../api.ts';
import { type RunBase, platformName } from '../run-base.ts';
import type { RecordsPlace } from '../read-state-file.ts';
import { withRecords } from '../read-records.ts';
import type { Stop } from '../stop.ts';
import { SyncError } from '../sync-error.ts';
import { compare, comparison, type VerifyRun } from './compare.ts';
import { repair } from './repair.ts';
import { memoryOf, withBots } from './with-bots.ts';

/** Compares the files of the bots with what was sent, and repairs or prunes as the options say. Throws `SyncError`. */
export async function verify(
  base: RunBase,
  loaded: LoadedConfig,
  options: VerifyOptions,
  stop: Stop,
): Promise<VerifyResult> {
  const run = { ...base, loaded, options, stop };
  try {
    const result = await verifyOrRepair(run);
    return stop.stop.aborted ? { ...result, outcome: 'interrupted' } : result;
  } catch (error) {
    if (error instanceof ListingError) throw new SyncError('state-file-failed', { reason: error.message });
    if (stop.stop.aborted && error instanceof SyncError)
      throw new SyncError('interrupted', { reason: error.message });
    throw error;
  }
}

async function verifyOrRepair(run: VerifyRun): Promise<VerifyResult> {
  const { options, loaded, env, feed } = run;
  const isShared = loaded.config.cluster !== null;
  if (!isShared && (options.repair === true || options.prune === true)) return await repair(run);
  // Only the holder of a unit may write its records.
  if (options.prune === true)
    throw new SyncError('usage', {
      reason:
        '--prune works on the state file of one host, and these sources are in the ledger of the cluster',
      fix: 'run botsync verify without it',
    });
  const result = await look(run);
  if (options.repair !== true || result.outcome === 'in-sync') return result;
  const { askHoldersToRepair } = await import('../cluster/ask-to-repair.ts');
  for (const { source, host } of await askHoldersToRepair(loaded, env))
    feed.warn(
      host === null
        ? `${source} is held by no host just now: run this again once one holds it`
        : `${host} was asked to repair ${source}; watch it with: botsync status`,
    );
  return result;
}

function placeOf({ loaded, target, env }: VerifyRun): RecordsPlace {
  return { loaded, platformName: platformName(target, loaded.config), env };
}

/** Compares without writing, also while another process writes the state file. */
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
