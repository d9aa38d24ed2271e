import type { FileKey } from '../../domain/brands.ts';
import type { PlatformFailure } from '../../domain/failure.ts';
import { removalExpiry } from '../../domain/expiry.ts';
import type { PreparedUpsert, UpsertBody } from '../../domain/limits.ts';
import type { FileRecord } from '../../domain/record.ts';
import type { RowId, StateReader } from '../../state/state-reader.ts';
import { sendContent } from '../../upload/send-content.ts';
import { isStillThere } from '../sources/directory-identity.ts';
import { areMountsThere } from '../sources/mounts.ts';
import { presenceOf } from '../sources/presence.ts';
import type { Source } from '../sources/source.ts';
import { retryPorts } from './walk-ports.ts';
import { isPostponed, judge, retryFile, type FileAttempt } from './retry.ts';
import type { WalkContext } from './sync-context.ts';

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

  /** Whether a removal may wait for the platform to be tried again. */
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
  const { state, clock, report, summary, round, flights } = context;
  const { botId, name } = source.config;
  const { breaker, isWatched } = context;
  const id = { target, key: record.key };
  if (isWatched && breaker.isOpen && flights.has(id)) {
    // What is under way waits for the platform, and this would wait for it.
    summary.pending += 1;
    return;
  }
  await flights.run(id, null, async () => {
    const isDue = isStillDue(id, name, record, state) && mayGo(source, record, context);
    const isOut = breaker.isOpen;
    if (!isDue || (isOut && !turn.take())) {
      summary.pending += 1;
      return;
    }
    await state.beginRemoving(id, clock.now());
    const ended = await leaveTombstone(source, record, turn, isOut, context);
    const event = {
      kind: 'remove',
      source: name,
      path: record.path,
      key: record.key,
      reason: 'removed',
    } as const;
    if (ended === null) {
      summary.pending += 1;
    } else if (ended.failure === null) {
      state.recordRemoved(id, name, ended.expiresAtMs, clock.now());
      summary.removed += 1;
      report.event({ ...event, outcome: 'done' });
    } else {
      round.blockade.note(ended.failure, botId);
      state.recordRemovalFailure(id, `cannot be removed: ${ended.failure.message}`, clock.now());
      summary.failed += 1;
      report.event({ ...event, outcome: 'failed', error: ended.failure.message });
    }
  });
}

/** Whether a record still says what it said on its page: meanwhile the file may be back, or its key another's. */
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

/** How an attempt to put a file away ended. */
interface Tombstone {
  readonly expiresAtMs: number;
  readonly failure: PlatformFailure | null;
}

/**
 * Puts one file away, again after transient failures. `null`: it was not tried, broken off by us, or has to wait for the
 * end of an outage.
 *
 * @param hasTurn - whether it has taken the turn for the outage that there is.
 */
async function leaveTombstone(
  source: Source,
  record: FileRecord,
  turn: OutageTurn,
  hasTurn: boolean,
  context: WalkContext,
): Promise<Tombstone | null> {
  const { stop, abort, isWatched, breaker } = context;
  const attemptOnce = async (): Promise<FileAttempt<Tombstone> | null> => {
    if (!mayGo(source, record, context)) return null;
    const result = await tryToLeaveTombstone(source.config.botId, record, context);
    if (result.failure !== null && isPostponed(result.failure)) return null;
    if (abort.aborted) return { result, met: 'nothing', retryReason: null };
    return { result, ...judge(result.failure) };
  };
  let mayProbe = hasTurn;
  const waitsForOutage = (): boolean => {
    if (!mayProbe) return turn.take();
    mayProbe = false;
    return true;
  };
  const ports = { ...retryPorts(source.config.name, record.path, 0, context), waitsForOutage };
  const ended = await retryFile(attemptOnce, ports, stop);
  const mustWait = isWatched && breaker.isOpen && ended?.failure?.kind === 'transient';
  return abort.aborted || mustWait ? null : ended;
}

async function tryToLeaveTombstone(
  botId: string,
  { key }: FileRecord,
  { platform, abort }: WalkContext,
): Promise<Tombstone> {
  let expiresAtMs = 0;
  const prepare = (): PreparedUpsert => {
    expiresAtMs = removalExpiry(platform.now());
    return { kind: 'ready', body: emptyFile(key, expiresAtMs), expiresAtMs };
  };
  const nothing = { kind: 'whole', bytes: Buffer.alloc(0) } as const;
  const ended = await sendContent(platform, botId, prepare, nothing, abort);
  return { expiresAtMs, failure: ended.kind === 'failed' ? ended.failure : null };
}

/** What puts an empty file that expires in the place of another. */
export function emptyFile(key: FileKey, expiresAtMs: number): UpsertBody {
  return {
    key,
    size: 0,
    index: false,
    tags: {},
    metadata: {},
    accessPolicies: [],
    contentType: 'application/octet-stream',
    expiresAt: new Date(expiresAtMs).toISOString(),
  };
}
