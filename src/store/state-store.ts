import type { RelativePath } from '../domain/key.ts';
import type { Fingerprint } from '../domain/fingerprint.ts';
import type { Absence, RecordState } from '../domain/record.ts';
import type { Pause } from '../domain/pause.ts';
import type { RereadState } from '../domain/rereading.ts';
import { statSync } from 'node:fs';
import { StateFileError, type Change, type Database, type Query, type SqlValue } from './database.ts';
import { LogFile, type Durability, WriteGroup } from './write-group.ts';
import { HistoryStore } from './history.ts';
import { NoticeStore } from './notices.ts';
import { ProblemStore } from './problems.ts';
import { RemovalStore } from './removal-store.ts';
import { RemoteStore } from './remote.ts';
import type { RowId } from './file-reader.ts';
import { StateReader, type SeenSource, type SyncTarget } from './state-reader.ts';
import { SuspectStore } from './suspects.ts';

/** A file as it was when an attempt to send it began. */
export interface Attempt {
  readonly fingerprint: Fingerprint;
  readonly trusted: boolean;
  readonly settingsDigest: string;
  readonly sizeBytes: number;
}

export interface SendFailure {
  readonly state: 'failed' | 'refused';
  readonly reason: string;
  /** True if the platform took, or may have taken, an upsert. */
  readonly upserted: boolean;
}

/** When a file expires and when it is renewed, epoch milliseconds; `null`: never. */
export interface Lifetime {
  readonly expiresAtMs: number | null;
  readonly renewAtMs: number | null;
}

export interface SentAs extends Lifetime {
  /** The platform's id of the file; `null`: unknown. */
  readonly remoteId: string | null;
  /** When the platform is first asked for the status, epoch milliseconds; `null`: never. */
  readonly askAtMs: number | null;
  /** True if the mark of the content still has to be set. */
  readonly isMarkDue: boolean;
  /** True if the file was sent with the mark of its content. */
  readonly isMarked: boolean;
}

/** The state file, open for writing. All times in epoch milliseconds. Methods throw `StateFileError`. */
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
  readonly problems = new ProblemStore(this.#query, this.#change);
  readonly removals = new RemovalStore(this.#change, () => this.#group.durable());
  readonly suspects = new SuspectStore(this.#query, this.#change);
  /** See `Durability`. */
  readonly mostAhead: number;
  readonly #group: WriteGroup;
  readonly #targets = new Map<string, number>();
  readonly #file: string;
  readonly #inode: string | null;

  constructor(database: Database, file: string, durability: Durability = new LogFile(`${file}-wal`)) {
    super(database);
    this.#group = new WriteGroup(database, durability, this.history);
    this.mostAhead = durability.mostAhead;
    this.#file = file;
    this.#inode = inodeOf(file);
  }

  /** Throws `StateFileError` when the file was removed or replaced: later writes would be lost. */
  checkInPlace(): void {
    if (inodeOf(this.#file) !== this.#inode)
      throw new StateFileError('gone', `${this.#file} was removed or replaced while it was in use`);
  }

  /** The number of a target; a new target gets one. */
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

  /** Records the intent to send a file. The upsert must wait for the promise: the intent is durable then. */
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

  /** Takes back an intent without an upsert: the record before it is still true. */
  takeBack({ target, key }: RowId, state: RecordState): void {
    this.#write(
      `UPDATE file SET state = ?1, size_bytes = iif(?1 = 'synced', CAST(fingerprint AS INTEGER), size_bytes),
         changed_at = iif(?1 = 'synced', coalesce(sent_at, changed_at), changed_at) WHERE target = ?2 AND key = ?3`,
      ...[state, target, key],
    );
  }

  /** Records that the store has every byte of a file. */
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
   * Records a failed attempt. The size of the content before stays in the record, that of the attempt is in the fingerprint: the
   * platform may have either.
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

  /** Records a new fingerprint of unchanged content. */
  recordTouched({ target, key }: RowId, fingerprint: Fingerprint, trusted: boolean): void {
    this.#write(
      'UPDATE file SET fingerprint = ?, trusted = ?, absence = NULL WHERE target = ? AND key = ?',
      fingerprint,
      Number(trusted),
      target,
      key,
    );
  }

  /** Moves a record to the source and path that give its key now. */
  adopt({ target, key }: RowId, source: string, path: RelativePath): void {
    this.#write(
      'UPDATE file SET source = ?, path = ?, absence = NULL WHERE target = ? AND key = ?',
      source,
      path,
      target,
      key,
    );
  }

  /** Records that the source lacks the file; `null`: that it has it again. */
  setAbsence({ target, key }: RowId, absence: Absence | null, nowMs: number): void {
    this.#write(
      'UPDATE file SET absence = ?, absent_since = ? WHERE target = ? AND key = ?',
      ...[absence, nowMs, target, key],
    );
  }

  /** Records when a file is renewed: the rules may have changed since it was sent. */
  setRenewal({ target, key }: RowId, renewAtMs: number | null): void {
    this.#write('UPDATE file SET renew_at = ? WHERE target = ? AND key = ?', renewAtMs, target, key);
  }

  forget({ target, key }: RowId): void {
    this.#write('DELETE FROM file WHERE target = ? AND key = ?', target, key);
  }

  /** Corrects times in the future, written by a clock that was ahead. */
  correctMoments(nowMs: number): void {
    this.#write(
      'UPDATE file SET absent_since = ? WHERE absence IS NOT NULL AND absent_since > ?',
      nowMs,
      nowMs,
    );
    this.#write('UPDATE removal SET at = ? WHERE at > ?', nowMs, nowMs);
  }

  saveSource(name: string, { directory, identity, halt }: SeenSource): void {
    this.#write(
      'INSERT OR REPLACE INTO source (name, directory, identity, halt) VALUES (?, ?, ?, ?)',
      name,
      directory,
      identity,
      halt === null ? null : JSON.stringify(halt),
    );
  }

  savePlace(source: string, place: string): void {
    if (this.place(source) === place) return;
    this.#write('INSERT OR REPLACE INTO place (source, place) VALUES (?, ?)', source, place);
  }

  saveMounts(source: string, mounts: readonly string[]): void {
    if (JSON.stringify(this.mounts(source)) === JSON.stringify(mounts)) return;
    this.#write('DELETE FROM mount WHERE source = ?', source);
    for (const path of mounts) this.#write('INSERT INTO mount (source, path) VALUES (?, ?)', source, path);
  }

  saveRereading(source: string, { position, atMs }: RereadState): void {
    this.#write(
      'INSERT OR REPLACE INTO rereading (source, position, at) VALUES (?, ?, ?)',
      ...[source, position, atMs],
    );
  }

  savePlatformAhead(aheadMs: number): void {
    if (this.platformAheadMs() === aheadMs) return;
    this.#write('INSERT OR REPLACE INTO clock (only_row, ahead) VALUES (1, ?)', aheadMs);
  }

  /** @param summary - JSON. */
  savePass(number: number, finishedAtMs: number, exitCode: number, summary: string): void {
    this.#write(
      'INSERT OR REPLACE INTO pass (only_row, number, finished_at, exit_code, summary) VALUES (1, ?, ?, ?, ?)',
      ...[number, finishedAtMs, exitCode, summary],
    );
  }

  noteServiceAlive(nowMs: number): void {
    this.#write('INSERT OR REPLACE INTO service (only_row, alive_at) VALUES (1, ?)', nowMs);
  }

  forgetService(notSinceMs: number): void {
    if ((this.serviceAliveAtMs() ?? Infinity) < notSinceMs) this.#write('DELETE FROM service');
  }

  /** @param pause - `null`: the service is not paused. */
  savePause(pause: Pause | null): void {
    if (pause === null) this.#write('DELETE FROM pause');
    else
      this.#write(
        'INSERT OR REPLACE INTO pause (only_row, since, until) VALUES (1, ?, ?)',
        ...[pause.sinceMs, pause.untilMs],
      );
  }

  /** Resolves once all writes so far are durable. */
  settled(): Promise<void> {
    return this.#group.durable();
  }

  /** Commits the open group and closes the file. */
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

  /** Statements cannot be finalized, and keep the connection alive after `close`: SQLite does not empty the log then. */
  #emptyLog(): void {
    try {
      this.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // Nothing is lost: the next connection reads the log.
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
