import type { LoadedConfig } from '../config/load-config.ts';
import { withStateFile, type OpenedStateFile } from './read-state-file.ts';

/** Where records are: in the state file, or for a host of a cluster in the ledger as well. */
export interface RecordsPlace {
  readonly loaded: LoadedConfig;
  /** What the platform is called in records. */
  readonly platformName: string;
  /** Where the address of the database may be. */
  readonly env: NodeJS.ProcessEnv;
}

/** What is on record, for as many looks as it takes. Those of the ledger are loaded once, at the first. */
export interface Records {
  /** Reads them, without writing anything. Throws `SyncError`. */
  readonly read: <T>(read: (records: OpenedStateFile) => T | Promise<T>) => Promise<T>;
  readonly close: () => void;
}

/** Opens what is on record; nothing is read yet. */
export function openRecords(place: RecordsPlace): Records {
  const { cluster, stateFile } = place.loaded.config;
  if (cluster === null) return { read: (read) => withStateFile(stateFile, read), close: () => undefined };
  // Loaded for hosts of a cluster alone.
  const opening = async (): Promise<Records> => {
    const { openLedgerRecords } = await import('./cluster/ledger-reader.ts');
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

/** Reads what is on record, once. Throws `SyncError`. */
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
