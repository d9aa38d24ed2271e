import { constants, copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DatabaseSync } from '@photostructure/sqlite';
import { guarded, StateFileError, type Database } from './database.ts';
import { ownerOf } from './open.ts';
import { SCHEMA } from './schema.ts';
import { StateReader } from './state-reader.ts';

/** A state file open for reading, or why it is not. A missing file reads as an empty one. */
export type OpenedReader =
  | {
      readonly kind: 'open';
      readonly reader: StateReader;
      readonly database: Database;
      readonly close: () => void;
    }
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'older' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'damaged' | 'unreadable'; readonly reason: string };

/**
 * Opens a state file without writing to its directory.
 *
 * SQLite reads a file that is in use together with its write-ahead log, through the companion files that its user has created.
 * A file that nobody uses is opened as immutable, which ignores the log; if a killed process left a log, a copy in a
 * temporary directory is read.
 *
 * @param inUse - a running botsync holds the file.
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
  return hasLog(file) ? openCopy(file) : open(immutable(file), null);
}

function openCopy(file: string): OpenedReader {
  let directory: string | null = null;
  try {
    directory = mkdtempSync(join(tmpdir(), 'botsync-'));
    const copy = join(directory, 'state.db');
    copyFileSync(file, copy, constants.COPYFILE_FICLONE);
    copyFileSync(`${file}-wal`, `${copy}-wal`, constants.COPYFILE_FICLONE);
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
  empty.exec(SCHEMA);
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
    const owner = guarded(() => ownerOf(connection));
    if (owner.kind === 'ours') return opened(connection, scratch);
    discard(connection, scratch);
    // The process that created it was killed before the first table.
    return owner.kind === 'nobody' ? openEmpty() : owner;
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
