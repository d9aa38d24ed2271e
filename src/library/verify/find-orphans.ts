import type { LoadedConfig } from '../../config/load-config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { listenForStop } from '../../service/stop-signals.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import { verifyBots } from '../../sync/pass/verification.ts';
import type { GlobalOptions } from '../../cli/global-options.ts';
import { platformError } from '../platform-failure.ts';
import { noticesIn, withPlatform } from '../platform/platform-access.ts';
import { withStateFile } from '../read-state-file.ts';
import { PassView } from '../../cli/render/pass-view.ts';
import { comparison } from './compare.ts';
import { memoryOf } from './service-memory.ts';

/** Asks the bots what they have, and tells of each file that is neither here nor on record. Throws `SyncError`. */
export async function findOrphans(
  options: GlobalOptions,
  loaded: LoadedConfig,
  onOrphan: (orphan: FileDifference) => void,
): Promise<void> {
  const view = new PassView(options);
  const signals = listenForStop(
    () => undefined,
    () => process.exit(EXIT.interrupted),
  );
  const quiet = { ...options, content: false, repair: false, prune: false, allowRemovals: false };
  const notices = noticesIn(view.log);
  const run = { loaded, useEmulator: options.emulator, command: 'ls', clock: systemClock, notices };
  try {
    await withPlatform(run, (access) =>
      withStateFile(loaded.config.stateFile, async ({ reader }) => {
        const input = comparison({ options: quiet, loaded, signals, view }, access, reader, memoryOf(reader));
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
  } finally {
    signals.release();
  }
}
