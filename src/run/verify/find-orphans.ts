import type { LoadedConfig } from '../../config/load-config.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import { verifyBots } from '../../sync/pass/verification.ts';
import { type RunBase, platformName } from '../run-base.ts';
import { platformError } from '../sync-error.ts';
import { withRecords } from '../read-records.ts';
import type { Stop } from '../stop.ts';
import { comparison } from './compare.ts';
import { memoryOf, withBots } from './with-bots.ts';

/** Lists the files of the bots and reports each without a local file and without a record. Throws `SyncError`. */
export async function findOrphans(
  base: RunBase,
  loaded: LoadedConfig,
  stop: Stop,
  onOrphan: (orphan: FileDifference) => void,
): Promise<void> {
  const run = { ...base, loaded, options: {}, stop };
  const place = { loaded, platformName: platformName(base.target, loaded.config), env: base.env };
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
