import { isDeepStrictEqual } from 'node:util';
import type { ClusterConfig } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import type { RunTarget } from '../run-target.ts';
import { load } from '../load.ts';
import { SyncError } from '../sync-error.ts';

/** The configuration as it is now. Throws `SyncError` also for what cannot change while a daemon runs. */
export function loadAgain(options: RunTarget, before: LoadedConfig): LoadedConfig {
  const next = load(options);
  if (next.config.stateFile !== before.config.stateFile)
    throw needsRestart(next, 'stateFile', 'another one needs a restart');
  const field = changedClusterField(before.config.cluster, next.config.cluster);
  if (field !== null) throw needsRestart(next, field, 'a change of it needs a restart');
  if (options.emulator && botsOf(next) !== botsOf(before))
    throw needsRestart(next, 'botId', 'with --emulator, another bot needs a restart');
  return next;
}

function needsRestart({ file }: LoadedConfig, field: string, reason: string): SyncError {
  const place = `${file}: ${field}`;
  return new SyncError('configuration', { place, reason, message: `${place}: ${reason}` });
}

/**
 * The first field of `cluster` that differs, or the block itself where one is without it. The name of this host may have
 * changed without the file: it is the machine's by default.
 */
function changedClusterField(before: ClusterConfig | null, after: ClusterConfig | null): string | null {
  if (before === null || after === null) return before === after ? null : 'cluster';
  const fields = Object.keys(FIELDS) as (keyof ClusterConfig)[];
  const changed = fields.find((name) => !isDeepStrictEqual(before[name], after[name]));
  return changed === undefined ? null : `cluster.${FIELDS[changed]}`;
}

/** The fields of `cluster` as the file has them. */
const FIELDS: Readonly<Record<keyof ClusterConfig, string>> = {
  database: 'database',
  schema: 'schema',
  host: 'host',
  leaseMs: 'lease',
  weight: 'weight',
  requestsPerSecond: 'requestsPerSecond',
  budget: 'budget',
  suspectAfterMs: 'suspectAfter',
};

/** The bots that the embedded emulator knows. */
function botsOf({ config }: LoadedConfig): string {
  return JSON.stringify(config.sources.map(({ botId }) => botId));
}
