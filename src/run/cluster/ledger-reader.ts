import type { ClusterConfig } from '../../config/config.ts';
import { StateReader } from '../../store/state-reader.ts';
import { WorkingCopy } from '../../store/working-copy.ts';
import { withStateFile, type Records, type RecordsPlace } from '../read-state-file.ts';
import { loadLedger } from './load-ledger.ts';
import { demandLedger, openCluster } from './open-cluster.ts';

/**
 * Opens the records of all units of the ledger, in memory. The first read loads them once; no host is blocked by that.
 */
export function openLedgerRecords(place: RecordsPlace, config: ClusterConfig): Records {
  let loading: Promise<WorkingCopy> | null = null;
  return {
    read: (read) =>
      // The holder of this host's state file is reported as without a cluster.
      withStateFile(place.loaded.config.stateFile, async ({ holder }) => {
        loading ??= loadAll(place, config);
        const { database } = await loading;
        return await read({ reader: new StateReader(database), database, holder, close: () => undefined });
      }),
    close: () => {
      loading?.then(
        (copy) => {
          copy.close();
        },
        () => undefined,
      );
    },
  };
}

async function loadAll({ loaded, env }: RecordsPlace, config: ClusterConfig): Promise<WorkingCopy> {
  const cluster = openCluster(loaded, config, env);
  const copy = new WorkingCopy(':memory:');
  try {
    await demandLedger(cluster);
    await loadLedger(cluster, copy);
    return copy;
  } catch (error) {
    copy.close();
    throw error;
  } finally {
    await cluster.close();
  }
}
