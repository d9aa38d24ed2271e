import type { LoadedConfig } from '../../config/load-config.ts';
import type { GlobalOptions } from '../../cli/global-options.ts';
import { load } from '../load.ts';
import { UsageError } from '../usage-error.ts';

/** The configuration as it is now. Throws `UsageError` also for what cannot change while a daemon runs. */
export function loadAgain(options: GlobalOptions, before: LoadedConfig): LoadedConfig {
  const next = load(options);
  if (next.config.stateFile !== before.config.stateFile)
    throw new UsageError(`${next.file}: stateFile: another one needs a restart`);
  if (options.emulator && botsOf(next) !== botsOf(before))
    throw new UsageError(`${next.file}: botId: with --emulator, another bot needs a restart`);
  return next;
}

/** The bots that the embedded emulator knows. */
function botsOf({ config }: LoadedConfig): string {
  return JSON.stringify(config.sources.map(({ botId }) => botId));
}
