import { join } from 'node:path';
import { emulatorDirectory, type Config } from '../../config/config.ts';
import { startEmulator, type Emulator } from '../../emulator/emulator.ts';
import { UnusableData } from '../../emulator/database.ts';
import { holdLock } from '../state-file.ts';
import { partsOf, SyncError } from '../sync-error.ts';

interface EmbeddedEmulator {
  readonly emulator: Emulator;
  readonly close: () => Promise<void>;
}

/**
 * Starts the emulator on a free loopback port, with the bots of the configuration. Throws `SyncError` if its data is in
 * use (`busy`) or unusable (`state-file`).
 */
export async function startEmbedded(config: Config, command: string): Promise<EmbeddedEmulator> {
  const dataDir = emulatorDirectory(config);
  const lock = holdLock(join(dataDir, 'emulator'), 'the emulator', command);
  try {
    const ids = [config.platform.botId, ...config.sources.map(({ botId }) => botId)];
    const bots = [...new Set(ids)].flatMap((id) => (id === null ? [] : [{ id, name: id }]));
    const emulator = await startEmulator({ dataDir, bots });
    return {
      emulator,
      close: async () => {
        try {
          await emulator.close();
        } finally {
          lock.release();
        }
      },
    };
  } catch (error) {
    lock.release();
    if (error instanceof UnusableData) throw new SyncError('state-file', partsOf(error.message));
    throw error;
  }
}
