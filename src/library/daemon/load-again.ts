import { isDeepStrictEqual } from 'node:util';
import type { LoadedConfig } from '../../config/load-config.ts';
import type { RunTarget } from '../run-target.ts';
import { load } from '../load.ts';
import { SyncError } from '../sync-error.ts';

/** The configuration as it is now. Throws `SyncError` also for what cannot change while a daemon runs. */
export function loadAgain(options: RunTarget, before: LoadedConfig): LoadedConfig {
  const next = load(options);
  if (next.config.stateFile !== before.config.stateFile)
    throw needsRestart(next, 'stateFile', 'another one needs a restart');
  if (!isDeepStrictEqual(next.config.cluster, before.config.cluster))
    throw needsRestart(next, 'cluster', 'another one needs a restart');
  if (options.emulator && botsOf(next) !== botsOf(before))
    throw needsRestart(next, 'botId', 'with --emulator, another bot needs a restart');
  return next;
}

function needsRestart({ file }: LoadedConfig, field: string, reason: string): SyncError {
  const place = `${file}: ${field}`;
  return new SyncError('configuration', { place, reason, message: `${place}: ${reason}` });
}

/** The bots that the embedded emulator knows. */
function botsOf({ config }: LoadedConfig): string {
  return JSON.stringify(config.sources.map(({ botId }) => botId));
}
