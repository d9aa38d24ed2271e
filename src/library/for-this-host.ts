import type { Config } from '../config/config.ts';

/** A configuration with the sources that this host may work on: without those that are pinned to others. */
export function forThisHost<C extends Pick<Config, 'cluster' | 'sources'>>(config: C): C {
  const { cluster, sources } = config;
  if (cluster === null) return config;
  return { ...config, sources: sources.filter(({ host }) => host === null || host === cluster.host) };
}
