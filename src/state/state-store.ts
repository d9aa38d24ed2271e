import type { RelativePath } from '../domain/brands.ts';
import type { Fingerprint } from '../domain/fingerprint.ts';
import type { Absence, RecordState } from '../domain/record.ts';
import type { RereadState } from '../domain/rereading.ts';
import { statSync } from 'node:fs';
import { StateFileError, type Database, type Query, type SqlValue } from './database.ts';
import { LogFile, type Durability } from './log-file.ts';
import { HistoryStore } from './history.ts';
import { NoticeStore, type Change } from './notices.ts';
import { ProblemStore } from './problems.ts';
import { RemovalStore } from './removal-store.ts';
import { RemoteStore } from './remote-store.ts';
import { StateReader, type RowId, type SeenSource, type SyncTarget } from './state-reader.ts';
import { SuspectStore } from './suspects.ts';
import { WriteGroup } from './write-group.ts';

/** What a file looked like when it was sent or tried. */
export interface Attempt {
  readonly fingerprint: Fingerprint;
  readonly trusted: boolean;
  readonly settingsDigest: string;
  readonly sizeBytes: number;
}

/** Why a file could not be sent. */
export interface SendFailure {
  readonly state: 'failed' | 'refused';
  readonly reason: string;
  /** Whether the platform took an upsert, or may have. */
  readonly upserted: boolean;
}

/** Until when the platform keeps a file, and when it is to be sent again; epoch milliseconds, `null`: forever, never. */
export interface Lifetime {
  readonly expiresAtMs: number | null;
  readonly renewAtMs: number | null;
}

/** What becomes of a file that was sent. */
export interface SentAs extends Lifetime {
  /** The platform's id of the file; `null`: it was not told. */
  readonly remoteId: string | null;
  /** When the platform is asked what became of it, epoch milliseconds; `null`: it is not. */
  readonly askAtMs: number | null;
  /** Whether the mark of its content is still to be set. */
  readonly isMarkDue: boolean;
  /** Whether it was sent with the mark of its content. */
  readonly isMarked: boolean;
}

/** The state file, open for writing: one row a file. All times in epoch milliseconds. Methods throw `StateFileError`. */
export class StateStore extends StateReader {
  readonly #query: Query = (sql, ...values) => this.all(sql, ...values);
  readonly #change: Change = (sql, ...values) => {
    this.#write(sql, ...values);
  };
  override readonly notices: NoticeStore = new NoticeStore(this.#query, this.#change);
  override readonly remote: RemoteStore = new RemoteStore(this.#query, this.#change, () =>
    this.#group.durable(),
  );
  override readonly history: HistoryStore = new HistoryStore(
    this.#query,
    (sql, ...values) => {
      this.statement(sql).run(...values);
    },
    () => {
      this.#group.writeIncidental();
    },
  );
  /** Files that could not be sent and have no row of their own to say so. */
  readonly problems = new ProblemStore(this.#query, this.#change);
  /** Files that were removed here, and what becomes of them on the platform. */
  readonly removals = new RemovalStore(this.#change, () => this.#group.durable());
  /** Files of which something that another host sent may arrive late. */
  readonly suspects = new SuspectStore(this.#query, this.#change);
  /** See `Durability`. */
  readonly mostAhead: number;
  readonly #group: WriteGroup;
  readonly #targets = new Map<string, number>();
  readonly #file: string;
  readonly #inode: string | null;

  /** @param file - where the database is. */
  constructor(database: Database, file: string, durability: Durability = new LogFile(`${file}-wal`)) {
    super(database);
    this.#group = new WriteGroup(database, durability, this.history);
    this.mostAhead = durability.mostAhead;
    this.#file = file;
    this.#inode = inodeOf(file);
  }

  /** Throws `StateFileError` when the file was removed or replaced by another: what is written then is lost. */
  checkInPlace(): void {
    if (inodeOf(this.#file) !== this.#inode)
      throw new StateFileError('gone', `${this.#file} was removed or replaced while it was in use`);
  }

  /** The number of a target; a new one gets a number. */
  override targetId(target: SyncTarget): number {
    const name = JSON.stringify([target.baseUrl, target.botId, target.identity]);
    const known = this.#targets.get(name);
    if (known !== undefined) return known;
    this.#write(
      'INSERT INTO target (base_url, bot_id, identity) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      ...[target.baseUrl, target.botId, target.identity],
    );
    const id = super.targetId(target);
    this.#targets.set(name, id);
    return id;
  }

  /** Notes that a file is about to be sent; durable once the promise resolves, which must be before its upsert. */
  async beginSending(
    id: RowId,
    source: string,
    path: RelativePath,
    attempt: Attempt,
    nowMs: number,
  ): Promise<void> {
    this.#write(
      `INSERT INTO file (target, source, path, key, state, fingerprint, trusted, settings, size_bytes, uploaded, changed_at)
       VALUES (?, ?, ?, ?, 'sending', ?, ?, ?, ?, 0, ?)
       ON CONFLICT (target, key) DO UPDATE SET source = excluded.source, path = excluded.path, state = 'sending',
         size_bytes = iif(CAST(file.fingerprint AS INTEGER) = excluded.size_bytes, file.size_bytes, excluded.size_bytes),
         uploaded = max(uploaded, file.state = 'sending'), absence = NULL, changed_at = excluded.changed_at`,
      ...[id.target, source, path, id.key],
      ...[attempt.fingerprint, Number(attempt.trusted), attempt.settingsDigest, attempt.sizeBytes, nowMs],
    );
    await this.#group.durable();
  }

  /** Takes back an intent: no upsert was sent, so what was on record is still so. */
  takeBack({ target, key }: RowId, state: RecordState): void {
    this.#write(
      `UPDATE file SET state = ?1, size_bytes = iif(?1 = 'synced', CAST(fingerprint AS INTEGER), size_bytes),
         changed_at = iif(?1 = 'synced', coalesce(sent_at, changed_at), changed_at) WHERE target = ?2 AND key = ?3`,
      ...[state, target, key],
    );
  }

  /** Records that the platform was sent exactly these bytes. */
  recordSynced(id: RowId, attempt: Attempt, sha256: Buffer, sentAs: SentAs, nowMs: number): void {
    const { expiresAtMs, renewAtMs, remoteId, askAtMs, isMarkDue, isMarked } = sentAs;
    this.#write(
      `UPDATE file SET state = 'synced', fingerprint = ?, trusted = ?, settings = ?, size_bytes = ?,
         losses = iif(sha256 IS ?5, losses, 0), sha256 = ?5, expires_at = ?, renew_at = ?, uploaded = 1, absence = NULL,
         failure = NULL, changed_at = ?8, sent_at = ?8, remote_id = ?, ask_at = ?, asked_at = NULL, verdict = NULL,
         mark_due = ?, marked = ?, changing = NULL, differs = NULL WHERE target = ? AND key = ?`,
      ...[attempt.fingerprint, Number(attempt.trusted), attempt.settingsDigest, attempt.sizeBytes, sha256],
      ...[expiresAtMs, renewAtMs, nowMs, remoteId, askAtMs, Number(isMarkDue), Number(isMarked)],
      ...[id.target, id.key],
    );
  }

  /**
   * Records that an attempt ended without success. The size of what was there before stays on record beside that of the attempt, which is
   * in its fingerprint: the platform may have either.
   */
  recordFailure(id: RowId, attempt: Attempt, { state, reason, upserted }: SendFailure, nowMs: number): void {
    this.#write(
      `UPDATE file SET state = ?, fingerprint = ?, trusted = ?, settings = ?,
         size_bytes = iif(CAST(fingerprint AS INTEGER) = ?, size_bytes, CAST(fingerprint AS INTEGER)), sha256 = NULL,
         uploaded = max(uploaded, ?), failure = ?, changed_at = ?, verdict = NULL, ask_at = NULL, losses = 0
         WHERE target = ? AND key = ?`,
      ...[state, attempt.fingerprint, Number(attempt.trusted), attempt.settingsDigest, attempt.sizeBytes],
      ...[Number(upserted), reason, nowMs, id.target, id.key],
    );
  }

  /** Takes a new fingerprint for content that was found to be the same. */
  recordTouched({ target, key }: RowId, fingerprint: Fingerprint, trusted: boolean): void {
    this.#write(
      'UPDATE file SET fingerprint = ?, trusted = ?, absence = NULL WHERE target = ? AND key = ?',
      fingerprint,
      Number(trusted),
      target,
      key,
    );
  }

  /** Moves a row to another source or path that now gives its key. */
  adopt({ target, key }: RowId, source: string, path: RelativePath): void {
    this.#write(
      'UPDATE file SET source = ?, path = ?, absence = NULL WHERE target = ? AND key = ?',
      source,
      path,
      target,
      key,
    );
  }

  /** Notes that the source has no such file (any more), or has it again. */
  setAbsence({ target, key }: RowId, absence: Absence | null, nowMs: number): void {
    this.#write(
      'UPDATE file SET absence = ?, absent_since = ? WHERE target = ? AND key = ?',
      ...[absence, nowMs, target, key],
    );
  }

  /** Notes when a file is to be sent again: the rules may say otherwise than when it was sent. */
  setRenewal({ target, key }: RowId, renewAtMs: number | null): void {
    this.#write('UPDATE file SET renew_at = ? WHERE target = ? AND key = ?', renewAtMs, target, key);
  }

  /** Drops a row. */
  forget({ target, key }: RowId): void {
    this.#write('DELETE FROM file WHERE target = ? AND key = ?', target, key);
  }

  /** Pulls back what was noted by a clock that was ahead: what lies in the future was noticed by now at the latest. */
  correctMoments(nowMs: number): void {
    this.#write(
      "UPDATE file SET absent_since = ? WHERE absence = 'removed' AND absent_since > ?",
      nowMs,
      nowMs,
    );
    this.#write('UPDATE removal SET at = ? WHERE at > ?', nowMs, nowMs);
  }

  /** Remembers how a source looked. */
  saveSource(name: string, { directory, identity, halted }: SeenSource): void {
    this.#write(
      'INSERT OR REPLACE INTO source (name, directory, identity, halted) VALUES (?, ?, ?, ?)',
      name,
      directory,
      identity,
      halted,
    );
  }

  /** Remembers where other file systems are mounted below a source. */
  saveMounts(source: string, mounts: readonly string[]): void {
    if (JSON.stringify(this.mounts(source)) === JSON.stringify(mounts)) return;
    this.#write('DELETE FROM mount WHERE source = ?', source);
    for (const path of mounts) this.#write('INSERT INTO mount (source, path) VALUES (?, ?)', source, path);
  }

  /** Remembers how far the files of a source that have to be read now and then were read. */
  saveRereading(source: string, { position, atMs }: RereadState): void {
    this.#write(
      'INSERT OR REPLACE INTO rereading (source, position, at) VALUES (?, ?, ?)',
      ...[source, position, atMs],
    );
  }

  /** Remembers by how much the platform's clock is ahead of ours, milliseconds. */
  savePlatformAhead(aheadMs: number): void {
    if (this.platformAheadMs() === aheadMs) return;
    this.#write('INSERT OR REPLACE INTO clock (only_row, ahead) VALUES (1, ?)', aheadMs);
  }

  /** Remembers how a full pass ended; `summary` is JSON. */
  savePass(number: number, finishedAtMs: number, exitCode: number, summary: string): void {
    this.#write(
      'INSERT OR REPLACE INTO pass (only_row, number, finished_at, exit_code, summary) VALUES (1, ?, ?, ?, ?)',
      ...[number, finishedAtMs, exitCode, summary],
    );
  }

  /** Resolves once all that was written is durable. */
  settled(): Promise<void> {
    return this.#group.durable();
  }

  /** Commits what is open and closes the file. */
  override close(): void {
    try {
      this.#close();
      this.#emptyLog();
    } finally {
      super.close();
    }
  }

  #close(): void {
    try {
      this.#group.close();
    } finally {
      this.history.close();
    }
  }

  /** SQLite would do it on close, but the connection outlives that by its statements, which cannot be finalized. */
  #emptyLog(): void {
    try {
      this.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // Nothing is lost: what stands in the log is read from there.
    }
  }

  #write(sql: string, ...values: SqlValue[]): void {
    const statement = this.statement(sql);
    this.#group.write(() => statement.run(...values));
  }
}

function inodeOf(file: string): string | null {
  try {
    const facts = statSync(file, { throwIfNoEntry: false });
    return facts === undefined ? null : `${facts.dev}:${facts.ino}`;
  } catch (error) {
    throw new StateFileError('unwritable', (error as Error).message, { cause: error });
  }
}
