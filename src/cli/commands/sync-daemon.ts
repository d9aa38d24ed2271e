import type { LoadedConfig } from '../../config/load-config.ts';
import { DaemonRun } from '../daemon/daemon-run.ts';
import type { GlobalOptions } from '../global-options.ts';

/** `botsync sync`: keeps everything up to date until a signal. Returns the exit code; throws `UsageError`. */
export async function syncDaemon(options: GlobalOptions, loaded: LoadedConfig): Promise<number> {
  const run = new DaemonRun(options, loaded);
  try {
    await run.begin();
    return await run.untilStopped();
  } finally {
    await run.end();
  }
}
