import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import type { Emulator } from '../../src/emulator/emulator.ts';

/** A file as the platform has it. */
export interface RemoteFile {
  /** Digest of its content; `null` while there is none. */
  readonly sha256: string | null;
  readonly sizeBytes: number;
  readonly updatedAt: string;
  /** ISO 8601; `null`: for ever. */
  readonly expiresAt: string | null;
}

/** A row of the state file. */
export interface StateRow {
  readonly key: string;
  readonly state: string;
  readonly sha256: string | null;
  /** Epoch milliseconds. */
  readonly expiresAtMs: number | null;
}

/** The digest of a content. */
export function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** What a platform has, by key. */
export class RemoteView {
  readonly #emulator: Emulator;
  /** By the place of the content, which every upsert changes. */
  readonly #digests = new Map<string, string>();

  constructor(emulator: Emulator) {
    this.#emulator = emulator;
  }

  look(): Map<string, RemoteFile> {
    const files = this.#emulator.listFiles('bot-1');
    return new Map(
      files.map(({ key, content, size, updatedAt, expiresAt = null }) => [
        key,
        {
          sha256: content === null ? null : this.#digestOf(key, content.path),
          sizeBytes: size,
          updatedAt,
          expiresAt,
        },
      ]),
    );
  }

  #digestOf(key: string, place: string): string | null {
    const known = this.#digests.get(place);
    if (known !== undefined) return known;
    const bytes = this.#emulator.readContent('bot-1', key);
    if (bytes === null) return null;
    const sha256 = digest(bytes);
    this.#digests.set(place, sha256);
    return sha256;
  }
}

/**
 * Opens a copy of a state file as a process would find it and reads its rows; none when it has no tables yet. Throws when
 * it is damaged. The file itself stays as the kill left it.
 */
export function readRows(file: string): Map<string, StateRow> {
  const directory = mkdtempSync(join(tmpdir(), 'botsync-crash-'));
  try {
    const copy = join(directory, 'state.db');
    for (const end of ['', '-wal']) if (existsSync(file + end)) cpSync(file + end, copy + end);
    const database = new DatabaseSync(copy);
    try {
      return rowsOf(database);
    } finally {
      database.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function rowsOf(database: InstanceType<typeof DatabaseSync>): Map<string, StateRow> {
  const { verdict } = database
    .prepare('SELECT quick_check AS verdict FROM pragma_quick_check')
    .get() as Record<string, unknown>;
  if (verdict !== 'ok') throw new Error(`the state file is damaged: ${String(verdict)}`);
  const version = database.prepare('PRAGMA user_version').get() as { user_version: number };
  if (version.user_version === 0) return new Map();
  const rows = database
    .prepare('SELECT key, state, lower(hex(sha256)) AS sha256, expires_at AS expiresAtMs FROM file')
    .all() as unknown as StateRow[];
  return new Map(rows.map((row) => [row.key, { ...row, sha256: row.sha256 === '' ? null : row.sha256 }]));
}
