import type { ClusterConfig } from '../../config/config.ts';
import { StateReader } from '../../store/state-reader.ts';
import { WorkingCopy } from '../../store/working-copy.ts';
import { withStateFile, type Records, type RecordsPlace } from '../read-state-file.ts';
import { loadLedger } from './load-ledger.ts';
import { demandLedger, openCluster } from './open-cluster.ts';

/** What all units of the ledger have on record, in memory and as of one moment. Nobody is kept from working on any of it. */
export function openLedgerRecords(place: RecordsPlace, config: ClusterConfig): Records {
  let loading: Promise<WorkingCopy> | null = null;
  return {
    read: (read) =>
      // Who works on the state file of this host is told as ever.
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

/** Throws `SyncError`. */
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
