import type { LoadedConfig } from '../../config/load-config.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import { verifyBots } from '../../sync/pass/verification.ts';
import type { RunBase } from '../open-sync.ts';
import { platformError } from '../platform-failure.ts';
import { forThisHost } from '../for-this-host.ts';
import { platformName } from '../load.ts';
import { withRecords } from '../read-records.ts';
import type { Stop } from '../stop.ts';
import { comparison } from './compare.ts';
import { memoryOf } from './service-memory.ts';
import { withBots } from './with-bots.ts';

/** Asks the bots what they have, and tells of each file that is neither here nor recorded. Throws `SyncError`. */
export async function findOrphans(
  base: RunBase,
  loaded: LoadedConfig,
  stop: Stop,
  onOrphan: (orphan: FileDifference) => void,
): Promise<void> {
  const own = { ...loaded, config: forThisHost(loaded.config) };
  const run = { ...base, loaded: own, options: {}, stop };
  const place = { loaded: own, platformName: platformName(base.target, own.config), env: base.env };
  await withBots(run, 'ls', (access) =>
    withRecords(place, async ({ reader }) => {
      const input = comparison(run, access, reader, memoryOf(reader));
      const found = await verifyBots({
        ...input,
        onDifference: (difference) => {
          if (difference.reason === 'orphan') onOrphan(difference);
        },
        onSame: () => undefined,
      });
      if (found.kind === 'failed') throw platformError('orphans are not known', found.failure, 'reads');
    }),
  );
}
