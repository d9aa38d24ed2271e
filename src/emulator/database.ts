import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';

/** An open SQLite connection. */
export type Database = InstanceType<typeof DatabaseSync>;

const SCHEMA_VERSION = 1;

const SCHEMA = `
  CREATE TABLE bot (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE file (
    id TEXT PRIMARY KEY,
    bot_id TEXT NOT NULL,
    integration_id TEXT NOT NULL,  -- '' for a file of the bot itself
    key TEXT NOT NULL,
    upload_id TEXT NOT NULL UNIQUE,  -- new with every upsert: names the content and its address
    size INTEGER NOT NULL,
    indexed INTEGER NOT NULL,
    expires_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    uploaded_at INTEGER,
    details TEXT NOT NULL,  -- JSON
    UNIQUE (bot_id, integration_id, key)
  ) STRICT;
  CREATE INDEX file_expiry ON file (expires_at) WHERE expires_at IS NOT NULL;
`;

/**
 * Opens the metadata of a data directory, creating it (mode 0600) when it is new.
 * What was committed survives the death of the process; a power cut is beyond an emulator.
 * Throws when the data is from another version of the emulator or no database.
 */
export function openDatabase(dataDir: string): Database {
  const path = join(dataDir, 'emulator.db');
  // SQLite gives its companion files the mode of the main file.
  closeSync(openSync(path, 'a', 0o600));
  const database = new DatabaseSync(path);
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;');
    const { user_version: version } = database.prepare('PRAGMA user_version').get() as {
      user_version: number;
    };
    if (version === 0) {
      database.exec(`BEGIN; ${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT;`);
    } else if (version !== SCHEMA_VERSION) {
      throw new Error(
        `${path} was made by another version of the emulator (${version}); remove its directory to start afresh`,
      );
    }
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}
