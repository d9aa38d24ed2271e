import { closeSync, existsSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { guarded, type Database, pragmaNumber, StateFileError } from './database.ts';
import { APPLICATION_ID, SCHEMA, STATE_VERSION, assertSchema } from './schema.ts';
import { StateStore } from './state-store.ts';

export type OpenedState =
  | { readonly kind: 'open'; readonly store: StateStore; readonly setAside: KeptFile | null }
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'unusable'; readonly reason: string };

/** An unusable state file that was renamed. */
export interface KeptFile {
  readonly name: string;
  readonly why: 'damaged' | 'older';
}

export interface OpenOptions {
  /** Reads every page first: for a file whose last user did not close it. */
  readonly checkThoroughly: boolean;
  /** Epoch milliseconds; becomes part of the name of a file that is set aside. */
  readonly nowMs: number;
}

/** Suffixes of the files of an SQLite database. */
export const COMPANIONS = ['', '-wal', '-shm', '-journal'];

/**
 * Opens a state file for writing, and creates it if necessary. A damaged file, or one of an older version, is renamed, never
 * deleted, and an empty one takes its place: the files on the platform are adopted then. The caller holds the lock.
 */
export function openState(file: string, options: OpenOptions): OpenedState {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    return { kind: 'unusable', reason: (error as Error).message };
  }
  try {
    const opened = open(file, options.checkThoroughly, null);
    return opened.kind === 'older' ? beginAnew(file, 'older', opened.reason, options.nowMs) : opened;
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error;
    return error.kind === 'damaged'
      ? beginAnew(file, 'damaged', `it is damaged (${error.message})`, options.nowMs)
      : { kind: 'unusable', reason: error.message };
  }
}

export type SetAside =
  { readonly kind: 'kept'; readonly name: string } | { readonly kind: 'failed'; readonly reason: string };

/** Renames a state file with its companions. The file must not be open. */
export function setAside(file: string, why: KeptFile['why'], nowMs: number): SetAside {
  const name = `${file}.${why}-${new Date(nowMs).toISOString().replaceAll(':', '')}`;
  try {
    for (const companion of COMPANIONS) {
      if (existsSync(file + companion)) renameSync(file + companion, name + companion);
    }
  } catch (error) {
    return { kind: 'failed', reason: `it cannot be renamed: ${(error as Error).message}` };
  }
  return { kind: 'kept', name };
}

function beginAnew(file: string, why: KeptFile['why'], reason: string, nowMs: number): OpenedState {
  const aside = setAside(file, why, nowMs);
  if (aside.kind === 'failed') return { kind: 'unusable', reason: `${reason}, and ${aside.reason}` };
  const { name } = aside;
  try {
    closeSync(openSync(file, 'a', 0o600));
    const opened = open(file, false, { name, why });
    if (opened.kind !== 'older') return opened;
    throw new Error('another process wrote it');
  } catch (error) {
    return {
      kind: 'unusable',
      reason: `${reason} and is kept as ${name}; a new one cannot be made: ${(error as Error).message}`,
    };
  }
}

function open(
  file: string,
  checkThoroughly: boolean,
  kept: KeptFile | null,
): OpenedState | { readonly kind: 'older'; readonly reason: string } {
  const database = guarded(
    () => new DatabaseSync(file, { timeout: 5000, enableForeignKeyConstraints: true }),
  );
  try {
    const owner = guarded(() => ownerOf(database));
    if (owner.kind !== 'ours' && owner.kind !== 'nobody') {
      database.close();
      return owner.kind === 'older' ? { kind: 'older', reason: 'it was written by an older botsync' } : owner;
    }
    guarded(() => {
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
      if (checkThoroughly) assertSound(database);
      if (owner.kind === 'nobody') createTables(database);
    });
    return { kind: 'open', store: new StateStore(database, file), setAside: kept };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** `nobody`: the database has no tables yet. */
type DatabaseOwner =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'ours' }
  | { readonly kind: 'older' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'newer'; readonly version: number };

/** Throws `StateFileError` for a damaged database. */
export function ownerOf(database: Database): DatabaseOwner {
  const version = pragmaNumber(database, 'user_version');
  const { tables } = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() as {
    tables: number;
  };
  if (tables > 0 && pragmaNumber(database, 'application_id') !== APPLICATION_ID) return { kind: 'foreign' };
  if (version > STATE_VERSION) return { kind: 'newer', version };
  if (version > 0 && version < STATE_VERSION) return { kind: 'older' };
  assertSchema(database, version);
  return version === 0 ? { kind: 'nobody' } : { kind: 'ours' };
}

function assertSound(database: Database): void {
  const { quick_check: verdict } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
  if (verdict !== 'ok') throw new StateFileError('damaged', verdict);
}

/** Creates all tables in one transaction: a kill leaves all or none. */
export function createTables(database: Database): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    database.exec(
      `${SCHEMA}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${STATE_VERSION};`,
    );
    database.exec('COMMIT');
  } catch (error) {
    // SQLite itself ends the transaction when the disk is full.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
