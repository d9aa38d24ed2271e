import type { LoadedConfig } from '../config/load-config.ts';
import type { ServiceState } from '../domain/status.ts';
import { accessObstacle } from '../service/access-obstacle.ts';
import { findHolder, type LockHolder } from '../service/process-lock.ts';
import { StateFileError, type Database } from '../store/database.ts';
import { openReader } from '../store/open-reader.ts';
import type { StateReader } from '../store/state-reader.ts';
import { SERVICE } from './state-file.ts';
import { SyncError } from './sync-error.ts';

/** The place of the records: the state file, for a host of a cluster also the ledger. */
export interface RecordsPlace {
  readonly loaded: LoadedConfig;
  readonly platformName: string;
  /** May contain the address of the database. */
  readonly env: NodeJS.ProcessEnv;
}

/** The records, for several reads. Those of the ledger are loaded once, at the first read. */
export interface Records {
  /** Reads without writing anything. Throws `SyncError`. */
  readonly read: <T>(read: (records: OpenedStateFile) => T | Promise<T>) => Promise<T>;
  readonly close: () => void;
}

/** A state file open for reading, also while another process writes it. */
export interface OpenedStateFile {
  readonly reader: StateReader;
  /** The connection, for reading raw rows. */
  readonly database: Database;
  /** The botsync process that works on the state file. */
  readonly holder: LockHolder | null;
  readonly close: () => void;
}

/**
 * Opens the state file without writing anything. Throws `SyncError` if it cannot be read.
 *
 * @param holder - the process that works on the file; `null` also if that is the caller, which is not writing now.
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

/** Reads the state file without writing anything. Throws `SyncError`, also if damage shows only during the read. */
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
 * Returns whether a service works with a state file, from its lock and its records; the service itself is not asked.
 *
 * @param aliveAtMs - see `StateReader.serviceAliveAtMs`.
 */
export function serviceStateOf(holder: LockHolder | null, aliveAtMs: number | null): ServiceState {
  if (holder?.command === SERVICE) return { kind: 'running' };
  return aliveAtMs === null
    ? { kind: 'none' }
    : { kind: 'stopped', lastAlive: new Date(aliveAtMs).toISOString() };
}
