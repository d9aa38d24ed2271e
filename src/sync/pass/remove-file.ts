import type { PlatformFailure } from '../../domain/failure.ts';
import type { FileRecord } from '../../domain/record.ts';
import type { RowId, StateReader } from '../../state/state-reader.ts';
import { isStillThere } from '../sources/directory-identity.ts';
import { areMountsThere } from '../sources/mounts.ts';
import { presenceOf } from '../sources/presence.ts';
import type { Source } from '../sources/source.ts';
import { deleteFile, deletingCatalog, putFileOf } from './delete-file.ts';
import { leaveTombstone } from './leave-tombstone.ts';
import { noteProblem } from './note-item.ts';
import type { RemovalAttempt } from './removal-attempt.ts';
import { isPostponed, judge, retryFile, type FileAttempt } from './retry.ts';
import type { WalkContext } from './sync-context.ts';
import { retryPorts } from './walk-ports.ts';

/**
 * In the daemon nothing else must wait behind removals during an outage. One of them finds out whether it is over, where
 * nothing else does.
 */
export class OutageTurn {
  readonly #context: WalkContext;
  #isTaken = false;

  constructor(context: WalkContext) {
    this.#context = context;
  }

  /** Whether a removal may wait for the platform to be retried. */
  take(): boolean {
    const { isWatched, breaker } = this.#context;
    if (!isWatched) return true;
    if (this.#isTaken || breaker.isAwaited) return false;
    this.#isTaken = true;
    return true;
  }
}

/** Removes one file from the platform, if nothing speaks against it, and reports it. */
export async function removeFile(
  source: Source,
  target: number,
  record: FileRecord,
  turn: OutageTurn,
  context: WalkContext,
): Promise<void> {
  const { state, summary, flights, breaker, isWatched } = context;
  const id = { target, key: record.key };
  if (isWatched && breaker.isOpen && flights.has(id)) {
    // What is running waits for the platform, and this would wait for it.
    summary.pending += 1;
    return;
  }
  await flights.run(id, null, async () => {
    const removal: Removal = { source, id, record, context };
    const isDue = isStillDue(id, source.config.name, record, state) && mayGo(source, record, context);
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

/** The removal of one file. */
interface Removal {
  readonly source: Source;
  readonly id: RowId;
  readonly record: FileRecord;
  readonly context: WalkContext;
}

/** Notes the intent to remove a file, durably, and returns what makes an attempt. */
async function beginRemoval({ source, id, context }: Removal): Promise<() => Promise<RemovalAttempt>> {
  const { state, clock } = context;
  const { botId, name } = source.config;
  const letExpire = (): Promise<RemovalAttempt> => leaveTombstone(botId, id.key, context);
  const catalog = deletingCatalog(id.target, context);
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
      isServed = false;
      await state.removals.beginRemoving(id, clock.now());
    }
    return letExpire();
  };
}

/** Counts, reports and records how the removal of a file ended. */
function noteRemoval(ended: RemovalAttempt, { source, id, record, context }: Removal): void {
  const { state, clock, report, summary, round } = context;
  const { botId, name } = source.config;
  const { path, key } = record;
  const event = { kind: 'remove', source: name, path, key, reason: 'removed' } as const;
  switch (ended.kind) {
    case 'expires':
    case 'gone':
      if (ended.kind === 'gone') state.removals.recordDeleted(id, name, clock.now());
      else state.removals.recordRemoved(id, name, ended.expiresAtMs, clock.now());
      summary.removed += 1;
      report.event({ ...event, outcome: 'done' });
      break;
    case 'replaced': {
      // Nothing of ours is left to remove, so that it is neither tried nor told again.
      state.forget(id);
      const reason = `deleted here, but left alone on the platform: somebody else replaced it (${ended.reason})`;
      noteProblem(context, { source: name, path, key, kind: 'problem', reason });
      break;
    }
    case 'failed': {
      const { message } = ended.failure;
      round.blockade.note(ended.failure, botId);
      state.removals.recordFailure(id, `cannot be removed: ${message}`, clock.now());
      summary.failed += 1;
      report.event({ ...event, outcome: 'failed', error: message });
      break;
    }
  }
}

/** Whether a record still says what it said on its page: in the meantime the file may be back, or its key another's. */
function isStillDue(id: RowId, source: string, record: FileRecord, state: StateReader): boolean {
  const now = state.find(id);
  return now?.absence === 'removed' && now.source === source && now.path === record.path;
}

/** Whether nothing speaks against removing a file now; asked again before each attempt. */
function mayGo(source: Source, { path, fingerprint }: FileRecord, context: WalkContext): boolean {
  const { round, stop, flights, clock } = context;
  const isObstructed = stop.aborted || round.blockade.reasonAgainst(source.config.botId, false) !== null;
  if (isObstructed) return false;
  if (round.unsent.mayHave(fingerprint, clock.monotonic()) || flights.mayHave(fingerprint)) return false;
  return isStillThere(source) && areMountsThere(source) && presenceOf(source, path) === 'gone';
}

/**
 * Makes attempts to remove one file, again after transient failures. `null`: none was made, it was broken off by us, or it
 * has to wait for the end of an outage.
 *
 * @param hasTurn - whether it has taken the turn for the outage that there is.
 */
async function retryRemoval(
  { source, record, context }: Removal,
  attempt: () => Promise<RemovalAttempt>,
  turn: OutageTurn,
  hasTurn: boolean,
): Promise<RemovalAttempt | null> {
  const { stop, abort, isWatched, breaker } = context;
  const attemptOnce = async (): Promise<FileAttempt<RemovalAttempt> | null> => {
    if (!mayGo(source, record, context)) return null;
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
