import type { LoadedConfig } from '../../config/load-config.ts';
import type { Diagnosis } from './finding.ts';

/** What a host of a cluster needs: the database, the ledger in it, and the rights of its role. */
export async function checkCluster(loaded: LoadedConfig): Promise<Diagnosis[]> {
  if (loaded.config.cluster === null) return [];
  const { checkLedger } = await import('./check-ledger.ts');
  return await checkLedger(loaded, loaded.config.cluster, process.env);
}
