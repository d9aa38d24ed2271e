import type { LoadedConfig } from '../../config/load-config.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import { verifyBots } from '../../sync/pass/verification.ts';
import type { RunBase } from '../open-sync.ts';
import { platformError } from '../platform-failure.ts';
import { withStateFile } from '../read-state-file.ts';
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
  const run = { ...base, loaded, options: {}, stop };
  await withBots(run, 'ls', (access) =>
    withStateFile(loaded.config.stateFile, async ({ reader }) => {
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
