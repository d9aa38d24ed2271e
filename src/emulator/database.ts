import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { keyOrder } from './key-order.ts';

/** An open SQLite connection. */
export type Database = InstanceType<typeof DatabaseSync>;

/** One step a version of the data, never changed once it was released; `user_version` counts those that were taken. */
const MIGRATIONS = [
  `
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
`,
  `
  CREATE TABLE chat_user (
    number INTEGER PRIMARY KEY,  -- the order of creation, here and below
    id TEXT NOT NULL UNIQUE,
    key_digest TEXT NOT NULL UNIQUE,  -- SHA-256 of the x-user-key
    profile TEXT NOT NULL,  -- JSON
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE conversation (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    bot_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    integration TEXT NOT NULL,
    tags TEXT NOT NULL,  -- JSON
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX conversation_bot ON conversation (bot_id);
  CREATE TABLE participant (
    number INTEGER PRIMARY KEY,
    conversation_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    UNIQUE (conversation_id, user_id)
  ) STRICT;
  CREATE INDEX participant_user ON participant (user_id);
  CREATE TABLE message (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    payload TEXT NOT NULL,  -- JSON
    metadata TEXT,  -- JSON
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX message_conversation ON message (conversation_id);
`,
  `
  ALTER TABLE file ADD COLUMN key_order TEXT NOT NULL DEFAULT '';  -- sorts as the keys do, see key-order.ts
  ALTER TABLE file ADD COLUMN life TEXT;  -- JSON; null until the content is there
  UPDATE file SET key_order = key_order(key);
  UPDATE file SET life = json_object('noticedAt', uploaded_at, 'uploadFailure', NULL,
    'indexingFrom', uploaded_at, 'indexedAt', uploaded_at, 'indexingFailure', NULL) WHERE uploaded_at IS NOT NULL;
  CREATE INDEX file_key_order ON file (bot_id, key_order, id);
  CREATE INDEX file_created ON file (bot_id, created_at, id);
`,
];

/**
 * Opens the metadata of a data directory, creating it (mode 0600) when it is new, bringing it up when it is older.
 * What was committed survives the death of the process; a power cut is beyond an emulator.
 * Throws when the data is from a newer version of the emulator or no database.
 */
export function openDatabase(dataDir: string): Database {
  const path = join(dataDir, 'emulator.db');
  // SQLite gives its companion files the mode of the main file.
  closeSync(openSync(path, 'a', 0o600));
  const database = new DatabaseSync(path);
  try {
    database.function('key_order', (key: unknown) => keyOrder(key as string));
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;');
    const { user_version: version } = database.prepare('PRAGMA user_version').get() as {
      user_version: number;
    };
    if (version > MIGRATIONS.length) {
      throw new Error(
        `${path} was made by a newer version of the emulator (${version}); remove its directory to start again`,
      );
    }
    for (const [taken, step] of MIGRATIONS.entries()) {
      if (taken >= version) database.exec(`BEGIN; ${step} PRAGMA user_version = ${taken + 1}; COMMIT;`);
    }
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}
