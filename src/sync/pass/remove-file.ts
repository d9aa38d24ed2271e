import { absenceActionOf, isAskedFor, type FileRecord } from '../../domain/record.ts';
import type { PlatformFailure } from '../../domain/failure.ts';
import { fileKey } from '../../domain/key.ts';
import type { RowId } from '../../store/file-reader.ts';
import { isStillThere } from '../sources/directory-identity.ts';
import { areMountsUnchanged } from '../sources/mounts.ts';
import { isLeftOut, presenceOf } from '../sources/presence.ts';
import type { Source } from '../sources/source.ts';
import { whyRemoved } from '../plan/outcome.ts';
import {
  deleteFile,
  deletingCatalog,
  putFileOf,
  leaveTombstone,
  type RemovalAttempt,
} from './delete-file.ts';
import { noteProblem } from './note-item.ts';
import { isPostponed, judge, retryFile, retryPorts, type FileAttempt } from './retry.ts';
import type { WalkContext } from './sync-context.ts';

/**
 * In the daemon, no work may wait behind removals during an outage. One removal probes for the end of the outage, where
 * nothing else does.
 */
export class OutageTurn {
  readonly #context: WalkContext;
  #isTaken = false;

  constructor(context: WalkContext) {
    this.#context = context;
  }

  /** Returns whether a removal may wait for the platform. */
  take(): boolean {
    const { isWatched, breaker } = this.#context;
    if (!isWatched) return true;
    if (this.#isTaken || breaker.isAwaited) return false;
    this.#isTaken = true;
    return true;
  }
}

/** Removes one file from the platform, unless something speaks against it, and reports that. */
export async function removeFile(
  source: Source,
  target: number,
  record: FileRecord,
  turn: OutageTurn,
  context: WalkContext,
): Promise<void> {
  const { summary, keyLocks, breaker, isWatched } = context;
  const id = { target, key: record.key };
  if (isWatched && breaker.isOpen && keyLocks.has(id)) {
    // The running task waits for the platform, and this would wait for the task.
    summary.pending += 1;
    return;
  }
  await keyLocks.run(id, null, async () => {
    const removal: Removal = { source, id, record, context };
    const isDue = isStillDue(id, source.config.name, record, context) && mayGo(source, id, record, context);
    const isOut = breaker.isOpen;
    if (!isDue || (isOut && !turn.take())) {
      summary.pending += 1;
      return;
    }
    const attempt = await beginRemoval(removal);
    const ended = await retryRemoval(removal, attempt, turn, isOut);
    if (ended === null) summary.pending += 1;
    else noteRemoval(ended, removal);
  });
}

interface Removal {
  readonly source: Source;
  readonly id: RowId;
  readonly record: FileRecord;
  readonly context: WalkContext;
}

/** Records the intent to remove a file durably. Returns a function that makes one attempt. */
async function beginRemoval({
  source,
  id,
  record,
  context,
}: Removal): Promise<() => Promise<RemovalAttempt>> {
  const { state, clock } = context;
  const { botId, name } = source.config;
  const letExpire = (): Promise<RemovalAttempt> => leaveTombstone(botId, id.key, context);
  const isAsked = isAskedFor(record.absence);
  const catalog = deletingCatalog(id.target, isAsked, context);
  if (catalog === null && isAsked) return () => Promise.resolve(UNCHECKED);
  if (catalog === null) {
    await state.removals.beginRemoving(id, clock.now());
    return letExpire;
  }
  await state.removals.beginDeleting(id, clock.now());
  const put = putFileOf(id, name, state);
  let isServed = true;
  return async () => {
    if (isServed) {
      const ended = await deleteFile(catalog, { target: id.target, botId }, put, context);
      if (ended.kind !== 'not-served') return ended;
      if (isAsked && !ended.isOurs) return UNCHECKED;
      isServed = false;
      await state.removals.beginRemoving(id, clock.now());
    }
    return letExpire();
  };
}

const UNCHECKED: RemovalAttempt = { kind: 'unchecked' };

/** Counts, reports and records the result of removing a file. */
function noteRemoval(ended: RemovalAttempt, { source, id, record, context }: Removal): void {
  const { state, clock, emit, summary, round } = context;
  const { botId, name } = source.config;
  const { path, key } = record;
  const isAsked = isAskedFor(record.absence);
  // Files that a user saw listed are no sign of a mass deletion.
  const countedFor = record.absence === 'pruned' ? null : name;
  const event = { kind: 'remove', source: name, path, key, reason: whyRemoved(source, record) } as const;
  switch (ended.kind) {
    case 'expires':
    case 'gone':
      if (ended.kind === 'gone') state.removals.recordDeleted(id, countedFor, clock.now());
      else state.removals.recordRemoved(id, countedFor, ended.expiresAtMs, clock.now());
      summary.removed += 1;
      emit({ kind: 'file', file: { ...event, outcome: 'done' } });
      break;
    case 'replaced': {
      // Nothing of ours is left to remove, so it is neither retried nor reported again.
      state.forget(id);
      noteProblem(context, {
        ...{ source: name, path, key, kind: 'problem' },
        reason: { kind: 'replaced-before-removal', isAsked, sign: ended.sign },
      });
      break;
    }
    case 'unchecked':
      if (record.absence === 'orphan') state.forget(id);
      else state.setAbsence(id, 'kept', clock.now());
      noteProblem(context, {
        ...{ source: name, path, key, kind: 'problem' },
        reason: { kind: 'unknown-owner' },
      });
      break;
    case 'failed': {
      const { message } = ended.failure;
      round.blockade.note(ended.failure, botId);
      state.removals.recordFailure(id, message, clock.now());
      summary.failed += 1;
      emit({ kind: 'file', file: { ...event, outcome: 'failed', error: message }, failure: ended.failure });
      break;
    }
  }
}

/**
 * Returns whether a record is as it was read: in the meantime, the file may have returned, or another may have its key.
 */
function isStillDue(id: RowId, source: string, record: FileRecord, { state, config }: WalkContext): boolean {
  const now = state.find(id);
  if (now === null || now.source !== source || now.path !== record.path) return false;
  return (
    now.absence === record.absence && absenceActionOf(now, now.absence, config.removals.mode) === 'remove'
  );
}

/** Returns whether a file may be removed now. Checked again before each attempt. */
function mayGo(source: Source, id: RowId, record: FileRecord, context: WalkContext): boolean {
  const { path, fingerprint, absence } = record;
  const { state, round, stop, keyLocks, clock, isPaused } = context;
  const isObstructed =
    stop.aborted || isPaused() || round.blockade.reasonAgainst(source.config.botId, false) !== null;
  if (isObstructed) return false;
  if (round.unsent.mayHave(fingerprint, clock.monotonic()) || keyLocks.mayHave(fingerprint)) return false;
  // The old key may be removed once the platform has the file under the new one.
  const ownKey = fileKey(source.config.keyPrefix, path);
  const isReplaced = ownKey !== id.key && state.find({ ...id, key: ownKey })?.state === 'synced';
  const isPrunedHere = absence === 'pruned' && isLeftOut(source, path);
  const isAbsent = isReplaced || isPrunedHere || presenceOf(source, path) === 'gone';
  return isStillThere(source) && areMountsUnchanged(source) && isAbsent;
}

/**
 * Attempts to remove one file, and retries transient failures. Returns `null` if no attempt was made, it was broken
 * off, or it must wait for the end of an outage.
 *
 * @param hasTurn - it has taken the turn for the current outage.
 */
async function retryRemoval(
  { source, id, record, context }: Removal,
  attempt: () => Promise<RemovalAttempt>,
  turn: OutageTurn,
  hasTurn: boolean,
): Promise<RemovalAttempt | null> {
  const { stop, abort, isWatched, breaker } = context;
  const attemptOnce = async (): Promise<FileAttempt<RemovalAttempt> | null> => {
    if (!mayGo(source, id, record, context)) return null;
    const result = await attempt();
    const failure = failureOf(result);
    if (failure !== null && isPostponed(failure)) return null;
    if (abort.aborted) return { result, met: 'nothing', retryReason: null };
    return { result, ...judge(failure) };
  };
  let mayProbe = hasTurn;
  const waitsForOutage = (): boolean => {
    if (!mayProbe) return turn.take();
    mayProbe = false;
    return true;
  };
  const ports = { ...retryPorts(source.config.name, record.path, 0, context), waitsForOutage };
  const ended = await retryFile(attemptOnce, ports, stop);
  const mustWait = isWatched && breaker.isOpen && ended !== null && failureOf(ended)?.kind === 'transient';
  return abort.aborted || mustWait ? null : ended;
}

function failureOf(ended: RemovalAttempt): PlatformFailure | null {
  return ended.kind === 'failed' ? ended.failure : null;
}
