import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { onTestFinished } from 'vitest';
import type { FileKey, RelativePath } from '../../src/domain/key.ts';
import type { Fingerprint } from '../../src/domain/fingerprint.ts';
import { openState } from '../../src/store/open.ts';
import type { FileRecord } from '../../src/domain/record.ts';
import type { RecordCursor, Sending, RowId } from '../../src/store/file-reader.ts';
import type { Attempt, SentAs, StateStore } from '../../src/store/state-store.ts';
import { makeTemporaryDirectory } from '../temporary-directory.ts';

export const NOW = Date.parse('2026-03-01T12:00:10.500Z');
export const TARGET = { baseUrl: 'https://api.example', botId: 'bot-1', identity: '{}' };
export const SHA = Buffer.alloc(32, 7);

/** A temporary directory that goes with the test. */
export function temporaryDirectory(): string {
  return makeTemporaryDirectory('state');
}

/** An open state file; the test closes it, or its end does. */
export function openStore(file = join(temporaryDirectory(), 'state.db')): StateStore {
  const opened = openState(file, { checkThoroughly: false, nowMs: NOW });
  if (opened.kind !== 'open') throw new Error(JSON.stringify(opened));
  closeAtEnd(opened.store);
  return opened.store;
}

/** A new store with its target and where it is. */
export function begin(): { store: StateStore; target: number; file: string } {
  const file = join(temporaryDirectory(), 'state.db');
  const store = openStore(file);
  return { store, target: store.targetId(TARGET), file };
}

/** Closes something with the test, whether or not it is closed by then. */
export function closeAtEnd(one: { close: () => void }): void {
  onTestFinished(() => {
    try {
      one.close();
    } catch {
      // Closed by the test, or broken by it.
    }
  });
}

/** A state file with one file `a` in sync, closed. */
export function writtenFile(directory = temporaryDirectory()): string {
  const file = join(temporaryDirectory(), 'state.db');
  const store = openStore(file);
  addSynced(store, store.targetId(TARGET), 'docs', 'a');
  store.close();
  return cleanCopy(file, directory);
}

/** A closed state file as the end of its process leaves it: `close` alone leaves companions until then. */
export function cleanCopy(from: string, directory = temporaryDirectory()): string {
  const file = join(directory, 'state.db');
  cpSync(from, file);
  return file;
}

/** What a kill at this moment would leave: a copy of the file with its companions, in another directory. */
export function killedCopy(file: string): string {
  const copy = join(temporaryDirectory(), 'state.db');
  for (const companion of ['', '-wal', '-shm']) {
    if (existsSync(file + companion)) cpSync(file + companion, copy + companion);
  }
  return copy;
}

/** A connection of its own, for looking. */
export function connect(file: string): DatabaseSyncInstance {
  const database = new DatabaseSync(file);
  closeAtEnd(database);
  return database;
}

/** Names and contents of a directory's files. */
export function contentsOf(directory: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory)
      .sort()
      .map((name) => [name, readFileSync(join(directory, name)).toString('base64')]),
  );
}

export const path = (text: string): RelativePath => text as RelativePath;
export const row = (target: number, key: string): RowId => ({ target, key: key as FileKey });

/** The sending of a file of now under some id. */
export const sending = (id: RowId, remoteId: string): Sending => ({ ...id, remoteId, sentAtMs: NOW });

/** An attempt at some content. */
export function attempt(some: Partial<Attempt> = {}): Attempt {
  return {
    fingerprint: '5:1:1:1' as Fingerprint,
    trusted: true,
    settingsDigest: 'settings',
    sizeBytes: 5,
    ...some,
  };
}

/** Puts a file in, as far as before its upsert; not durable yet. */
export function addSending(
  store: StateStore,
  target: number,
  source: string,
  name: string,
  key = name,
): RowId {
  const id = row(target, key);
  // Rejected only when the store is closed first.
  store.beginSending(id, source, path(name), attempt(), NOW).catch(() => undefined);
  return id;
}

/** Puts a file in that is in sync. */
export function addSynced(
  store: StateStore,
  target: number,
  source: string,
  name: string,
  { key = name, expiresAtMs = null }: { key?: string; expiresAtMs?: number | null } = {},
): RowId {
  const id = addSending(store, target, source, name, key);
  store.recordSynced(id, attempt(), SHA, { ...FOREVER, expiresAtMs }, NOW);
  return id;
}

/** All that a cursor goes over. */
export function drain(cursor: Pick<RecordCursor, 'current' | 'advance'>): FileRecord[] {
  const all: FileRecord[] = [];
  for (let record = cursor.current; record !== null; record = cursor.current) {
    all.push(record);
    cursor.advance();
  }
  return all;
}

/** What does not expire, and is not asked about. */
export const FOREVER: SentAs = {
  expiresAtMs: null,
  renewAtMs: null,
  remoteId: null,
  askAtMs: null,
  isMarkDue: false,
  isMarked: false,
};
