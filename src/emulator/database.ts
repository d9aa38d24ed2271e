import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';

export type Database = InstanceType<typeof DatabaseSync>;

/** Must be raised with every change of the tables (`PRAGMA user_version`). */
const VERSION = 4;

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGE: ReadonlySet<number> = new Set([11, 26]);

const SCHEMA = `
  CREATE TABLE resource (
    number INTEGER PRIMARY KEY,  -- the order of creation
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    value TEXT NOT NULL,  -- JSON
    UNIQUE (kind, id)
  ) STRICT;
  CREATE TABLE file (
    id TEXT PRIMARY KEY,
    bot_id TEXT NOT NULL,
    integration_id TEXT NOT NULL,
    key TEXT NOT NULL,
    upload_id TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    indexed INTEGER NOT NULL,
    refused INTEGER NOT NULL,  -- whether its content was: then it counts for nothing
    expires_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    value TEXT NOT NULL,  -- the whole StoredFile as JSON
    UNIQUE (bot_id, integration_id, key)
  ) STRICT;
  CREATE INDEX file_expiry ON file (expires_at) WHERE expires_at IS NOT NULL;
  CREATE INDEX file_created ON file (bot_id, created_at, id);
`;

/**
 * Opens the database of a data directory, or creates it (mode 0600). A commit survives the death of the process,
 * not a power cut. Throws `UnusableData` if the data is damaged or from another version of the emulator.
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
    if (version === 0) database.exec(`BEGIN; ${SCHEMA} PRAGMA user_version = ${VERSION}; COMMIT;`);
    else if (version !== VERSION)
      throw new UnusableData(
        `${path} was made by another version of the emulator; remove its directory to start again`,
      );
  } catch (error) {
    database.close();
    const { errcode, message } = error as Error & { readonly errcode?: number };
    if (!DAMAGE.has(errcode ?? 0)) throw error;
    const reason = `is damaged (${message})`;
    throw new UnusableData(`${path} ${reason}; remove its directory to start again`, { cause: error });
  }
  return database;
}

/** The data directory cannot be used. The message contains the fix. */
export class UnusableData extends Error {}

/** Resources of one kind by id, in the order of their creation: all in memory, every change written through. */
export class Collection<T extends { readonly id: string }> {
  readonly #items = new Map<string, T>();
  readonly #write: (item: T) => void;

  constructor(database: Database, kind: string) {
    const rows = database.prepare('SELECT value FROM resource WHERE kind = ? ORDER BY number').all(kind);
    for (const { value } of rows as { value: string }[]) {
      const item = JSON.parse(value) as T;
      this.#items.set(item.id, item);
    }
    const write = database.prepare(
      `INSERT INTO resource (kind, id, value) VALUES (?, ?, ?)
       ON CONFLICT (kind, id) DO UPDATE SET value = excluded.value`,
    );
    this.#write = (item) => {
      write.run(kind, item.id, JSON.stringify(item));
    };
  }

  find(id: string): T | null {
    return this.#items.get(id) ?? null;
  }

  /** Oldest first. */
  list(): readonly T[] {
    return [...this.#items.values()];
  }

  /** Adds a resource, or replaces the one with its id. */
  put(item: T): void {
    this.#write(item);
    this.#items.set(item.id, item);
  }
}
