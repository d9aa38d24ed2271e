import { constants, copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DatabaseSync } from '@photostructure/sqlite';
import { guarded, StateFileError, type Database } from './database.ts';
import { migrate, ownerOf } from './open.ts';
import { MIGRATIONS } from './schema.ts';
import { StateReader } from './state-reader.ts';

/** A state file open for reading, or why it is not. A file that is not there reads as an empty one. */
export type OpenedReader =
  | {
      readonly kind: 'open';
      readonly reader: StateReader;
      readonly database: Database;
      readonly close: () => void;
    }
  | { readonly kind: 'newer'; readonly version: number }
  /** A running botsync of an older version holds it. */
  | { readonly kind: 'older' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'damaged' | 'unreadable'; readonly reason: string };

/**
 * Opens a state file without writing anything, not even beside it.
 *
 * SQLite reads a file that is in use together with its write-ahead log, for which it needs the files beside it that
 * the user of the file has made. One that nobody uses is opened as immutable, which ignores the log; where a killed
 * process left one, a copy is read in a directory of our own, and so where an older version has to be brought to this one.
 *
 * @param inUse - whether a running botsync holds it.
 */
export function openReader(file: string, inUse: boolean): OpenedReader {
  let sizeBytes: number;
  try {
    sizeBytes = statSync(file).size;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    return code === 'ENOENT' ? openEmpty() : { kind: 'unreadable', reason: code };
  }
  if (sizeBytes === 0) return openEmpty();
  if (inUse) return open(file, null);
  if (hasLog(file)) return openCopy(file);
  const opened = open(immutable(file), null);
  return opened.kind === 'older' ? openCopy(file) : opened;
}

function openCopy(file: string): OpenedReader {
  let directory: string | null = null;
  try {
    directory = mkdtempSync(join(tmpdir(), 'botsync-'));
    const copy = join(directory, 'state.db');
    copyFileSync(file, copy, constants.COPYFILE_FICLONE);
    if (hasLog(file)) copyFileSync(`${file}-wal`, `${copy}-wal`, constants.COPYFILE_FICLONE);
    return open(copy, directory);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    discard(null, directory);
    return { kind: 'unreadable', reason: `it cannot be copied to be read: ${message}` };
  }
}

function openEmpty(): OpenedReader {
  const empty = new DatabaseSync(':memory:');
  for (const step of MIGRATIONS) empty.exec(step);
  return opened(empty, null);
}

function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function immutable(file: string): URL {
  const url = pathToFileURL(file);
  url.searchParams.set('immutable', '1');
  return url;
}

function open(location: string | URL, scratch: string | null): OpenedReader {
  let database: Database | null = null;
  try {
    const connection = guarded(
      () => new DatabaseSync(location, { readOnly: scratch === null, timeout: 5000 }),
    );
    database = connection;
    const standing = guarded(() => ownerOf(connection));
    if (standing.kind === 'ours' && standing.version > 0) {
      if (standing.version === MIGRATIONS.length) return opened(connection, scratch);
      if (scratch !== null) {
        guarded(() => {
          migrate(connection, standing.version);
        });
        return opened(connection, scratch);
      }
    }
    discard(connection, scratch);
    if (standing.kind !== 'ours') return standing;
    // Version 0: its maker was killed before the first table.
    return standing.version === 0 ? openEmpty() : { kind: 'older' };
  } catch (error) {
    discard(database, scratch);
    if (error instanceof StateFileError) {
      return { kind: error.kind === 'damaged' ? 'damaged' : 'unreadable', reason: error.message };
    }
    throw error;
  }
}

function opened(database: Database, scratch: string | null): OpenedReader {
  return {
    kind: 'open',
    reader: new StateReader(database),
    database,
    close: () => {
      discard(database, scratch);
    },
  };
}

function discard(database: Database | null, scratch: string | null): void {
  database?.close();
  if (scratch !== null) rmSync(scratch, { recursive: true, force: true });
}
