import { closeSync, existsSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { guarded, type Database, pragmaNumber, StateFileError } from './database.ts';
import { APPLICATION_ID, MIGRATIONS } from './schema.ts';
import { assertSchema } from './schema-check.ts';
import { StateStore } from './state-store.ts';

/** A state file ready for use, or why there is none. `setAside` names a damaged file that was kept. */
export type OpenedState =
  | { readonly kind: 'open'; readonly store: StateStore; readonly setAside: string | null }
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'unusable'; readonly reason: string };

/** How to open a state file. */
export interface OpenOptions {
  /** Read every page first: for a file whose last user did not close it. */
  readonly checkThoroughly: boolean;
  /** Epoch milliseconds; names a damaged file that is set aside. */
  readonly nowMs: number;
}

/** The files that SQLite keeps beside a database. */
export const COMPANIONS = ['', '-wal', '-shm', '-journal'];

/**
 * Opens a state file for writing, creates or migrates it. A damaged one is renamed, never deleted, and a new one is
 * begun: what it knew is found out again by sending. The caller holds the lock.
 */
export function openState(file: string, options: OpenOptions): OpenedState {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    return { kind: 'unusable', reason: (error as Error).message };
  }
  try {
    return open(file, options.checkThoroughly, null);
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error;
    return error.kind === 'damaged'
      ? beginAnew(file, error.message, options.nowMs)
      : { kind: 'unusable', reason: error.message };
  }
}

/** What came of setting a damaged state file aside. */
export type SetAside =
  { readonly kind: 'kept'; readonly name: string } | { readonly kind: 'failed'; readonly reason: string };

/** Renames a damaged state file with its companions. It must not be open. */
export function setAside(file: string, nowMs: number): SetAside {
  const name = `${file}.damaged-${new Date(nowMs).toISOString().replaceAll(':', '')}`;
  try {
    for (const companion of COMPANIONS) {
      if (existsSync(file + companion)) renameSync(file + companion, name + companion);
    }
  } catch (error) {
    return { kind: 'failed', reason: `it cannot be renamed: ${(error as Error).message}` };
  }
  return { kind: 'kept', name };
}

function beginAnew(file: string, damage: string, nowMs: number): OpenedState {
  const aside = setAside(file, nowMs);
  if (aside.kind === 'failed')
    return { kind: 'unusable', reason: `it is damaged (${damage}), and ${aside.reason}` };
  try {
    closeSync(openSync(file, 'a', 0o600));
    return open(file, false, aside.name);
  } catch (error) {
    const reason = `it was damaged (${damage}) and is kept as ${aside.name}; a new one cannot be made: ${(error as Error).message}`;
    return { kind: 'unusable', reason };
  }
}

function open(file: string, checkThoroughly: boolean, keptAs: string | null): OpenedState {
  const database = guarded(
    () => new DatabaseSync(file, { timeout: 5000, enableForeignKeyConstraints: true }),
  );
  try {
    const standing = guarded(() => ownerOf(database));
    if (standing.kind !== 'ours') {
      database.close();
      return standing;
    }
    guarded(() => {
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
      if (checkThoroughly) assertSound(database);
      migrate(database, standing.version);
    });
    return { kind: 'open', store: new StateStore(database, file), setAside: keptAs };
  } catch (error) {
    database.close();
    throw error;
  }
}

type DatabaseOwner =
  { kind: 'ours'; version: number } | { kind: 'newer'; version: number } | { kind: 'foreign' };

/** Whose database it is and of which version; a new, empty one is ours at version 0. Throws `StateFileError` for a damaged one. */
export function ownerOf(database: Database): DatabaseOwner {
  const version = pragmaNumber(database, 'user_version');
  const { tables } = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() as {
    tables: number;
  };
  if (tables > 0 && pragmaNumber(database, 'application_id') !== APPLICATION_ID) return { kind: 'foreign' };
  if (version > MIGRATIONS.length) return { kind: 'newer', version };
  assertSchema(database, version);
  return { kind: 'ours', version };
}

function assertSound(database: Database): void {
  const { quick_check: verdict } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
  if (verdict !== 'ok') throw new StateFileError('damaged', verdict);
}

/** Brings a state file of an older version to the present one: in one transaction, so that none is left halfway. */
export function migrate(database: Database, from: number): void {
  const steps = MIGRATIONS.slice(from);
  if (steps.length === 0) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    database.exec(
      `${steps.join('; ')}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length};`,
    );
    database.exec('COMMIT');
  } catch (error) {
    // A full disk has ended it by itself.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
