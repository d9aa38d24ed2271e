import { withStateFile, type OpenedStateFile, type Records, type RecordsPlace } from './read-state-file.ts';

/** Opens the records; nothing is read yet. */
export function openRecords(place: RecordsPlace): Records {
  const { cluster, stateFile } = place.loaded.config;
  if (cluster === null) return { read: (read) => withStateFile(stateFile, read), close: () => undefined };
  // Only hosts of a cluster load this module.
  const opening = async (): Promise<Records> => {
    const { openLedgerRecords } = await import('./cluster/load-ledger.ts');
    return openLedgerRecords(place, cluster);
  };
  let opened: Promise<Records> | null = null;
  return {
    read: async (read) => {
      opened ??= opening();
      return await (await opened).read(read);
    },
    close: () => {
      void opened?.then((records) => {
        records.close();
      });
    },
  };
}

/** Reads the records once. Throws `SyncError`. */
export async function withRecords<T>(
  place: RecordsPlace,
  read: (records: OpenedStateFile) => T | Promise<T>,
): Promise<T> {
  const records = openRecords(place);
  try {
    return await records.read(read);
  } finally {
    records.close();
  }
}
