import type { Config } from '../../config/config.ts';
import { excessesOf, type Additions } from '../../domain/usage.ts';
import { systemClock } from '../../service/system-clock.ts';
import { Claims } from '../../sync/plan/claims.ts';
import { estimate } from '../../sync/plan/estimate.ts';
import { findSources } from '../../sync/sources/source.ts';
import type { Clients } from '../../library/platform/clients.ts';
import type { Records } from '../../library/read-records.ts';
import { describeExcess } from '../../words/describe-excess.ts';
import { describeUsage } from '../../words/usage.ts';
import { whyNotAsked } from '../../library/usage.ts';
import { doubtful, fine, type Diagnosis } from './finding.ts';
import { SyncError } from '../../library/sync-error.ts';

/** Asks how much of its quotas the workspace uses, and says what the next pass would add. */
export async function checkUsage(
  config: Config,
  platformName: string,
  { clients, records }: { readonly clients: Clients; readonly records: Records },
  signal: AbortSignal,
): Promise<Diagnosis[]> {
  if (config.platform.operations === 'specified') return [];
  const asked = await clients.usage().all(signal);
  if (asked.kind === 'failed') return [doubtful('usage', whyNotAsked(asked), null)];
  const usages = asked.value;
  const additions = await planned(config, platformName, records, signal);
  const fix = 'delete files or raise the quota; other files are not affected';
  return [
    ...describeUsage(usages, additions).map((line) => fine('usage', line)),
    ...(additions === null ? [] : excessesOf(usages, additions)).map((excess) =>
      doubtful('usage', describeExcess(excess), fix),
    ),
  ];
}

/** What the next pass would add; `null`: it is not known. */
async function planned(
  config: Config,
  platformName: string,
  records: Records,
  signal: AbortSignal,
): Promise<Additions | null> {
  try {
    return await records.read(async ({ reader }) => {
      const sources = findSources(config, platformName);
      const { now } = systemClock;
      const aheadMs = reader.platformAheadMs();
      const input = {
        ...{ config, sources, state: reader, claims: new Claims(reader, sources) },
        ...{ platformNow: () => now() + aheadMs, now, isForced: () => false },
      };
      return (await estimate(input, systemClock, signal))?.additions ?? null;
    });
  } catch (error) {
    // What is wrong with the state file is told by the check of it.
    if (error instanceof SyncError) return null;
    throw error;
  }
}
