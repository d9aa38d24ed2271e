import type { LoadedConfig } from '../config/load-config.ts';
import type { ServiceState } from '../domain/status.ts';
import { accessObstacle } from '../service/access-obstacle.ts';
import { findHolder, type LockHolder } from '../service/process-lock.ts';
import { StateFileError, type Database } from '../store/database.ts';
import { openReader } from '../store/open-reader.ts';
import type { StateReader } from '../store/state-reader.ts';
import { SERVICE } from './state-file.ts';
import { SyncError } from './sync-error.ts';

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

/** The state file, open for reading beside whoever may be writing it. */
export interface OpenedStateFile {
  readonly reader: StateReader;
  /** Its connection, for reading rows as they are. */
  readonly database: Database;
  /** The botsync that is running on it. */
  readonly holder: LockHolder | null;
  readonly close: () => void;
}

/**
 * Opens the state file without writing anything. Throws `SyncError` for one that cannot be read.
 *
 * @param holder - who is at work on it; `null` also where that is the caller, who does not write now.
 */
export function readStateFile(file: string, holder = findHolder(file)): OpenedStateFile {
  const opened = openReader(file, holder !== null);
  switch (opened.kind) {
    case 'open':
      return { reader: opened.reader, database: opened.database, holder, close: opened.close };
    case 'newer':
      throw new SyncError('state-file', {
        place: file,
        reason: `was written by a newer botsync (state version ${opened.version})`,
        fix: 'install that version',
      });
    case 'older':
      throw new SyncError('state-file', {
        place: file,
        reason: `${holder === null ? 'was written' : 'is in use'} by an older botsync`,
        fix:
          holder === null
            ? 'the next "sync --once" sets it aside and builds a new one, without sending what the bot has already'
            : 'restart it: this version builds a new one, without sending what the bot has already',
      });
    case 'foreign':
      throw new SyncError('state-file', {
        place: file,
        reason: 'is a database of another program',
        fix: 'name another stateFile',
      });
    case 'unreadable':
    case 'damaged':
      throw inWords(file, opened.kind, opened.reason);
  }
}

/** Reads the state file without writing anything. Throws `SyncError` also when its damage shows only in the midst. */
export async function withStateFile<T>(
  file: string,
  read: (state: OpenedStateFile) => T | Promise<T>,
  holder = findHolder(file),
): Promise<T> {
  const state = readStateFile(file, holder);
  try {
    return await read(state);
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error;
    throw inWords(file, error.kind === 'damaged' ? 'damaged' : 'unreadable', error.message);
  } finally {
    state.close();
  }
}

function inWords(file: string, kind: 'unreadable' | 'damaged', reason: string): SyncError {
  if (kind === 'damaged')
    return new SyncError('state-file', {
      place: file,
      reason: `is damaged (${reason})`,
      fix: 'the next "sync --once" sets it aside and builds a new one',
    });
  const obstacle = accessObstacle(file, 'read') ?? { reason, fix: 'check that this user may read it' };
  return new SyncError('state-file', {
    place: file,
    reason: `cannot be read: ${obstacle.reason}`,
    fix: obstacle.fix,
  });
}

/**
 * Returns whether a service works with a state file, by its lock and its records; the service itself is not asked.
 *
 * @param aliveAtMs - see `StateReader.serviceAliveAtMs`.
 */
export function serviceStateOf(holder: LockHolder | null, aliveAtMs: number | null): ServiceState {
  if (holder?.command === SERVICE) return { kind: 'running' };
  return aliveAtMs === null
    ? { kind: 'none' }
    : { kind: 'stopped', lastAlive: new Date(aliveAtMs).toISOString() };
}
