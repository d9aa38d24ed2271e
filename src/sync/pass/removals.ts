import type { FileKey } from '../../domain/brands.ts';
import type { PlatformFailure } from '../../domain/failure.ts';
import { removalExpiry } from '../../domain/expiry.ts';
import { guardRemovals, REMOVAL_WINDOW_MS, type Halt } from '../../domain/guard.ts';
import type { UpsertBody } from '../../domain/limits.ts';
import type { FileRecord } from '../../domain/record.ts';
import type { RowId, StateReader } from '../../state/state-reader.ts';
import { isStillThere } from '../sources/directory-identity.ts';
import { areMountsThere } from '../sources/mounts.ts';
import type { WalkContext } from './sync-context.ts';
import { presenceOf } from '../sources/presence.ts';
import type { Source } from '../sources/source.ts';
import { isPostponed, judge, retry, type Attempted } from './retry.ts';
import { retryPorts } from './retry-ports.ts';
import type { Workers } from './workers.ts';

/**
 * Removes from the platform what was removed from a source, after all uploads of the pass: a renamed file is there
 * under its new key before it goes under the old one. What may be a renamed file that could not be sent stays.
 *
 * The interface has no delete. The key is taken over by an empty file that expires in two minutes. As many are under way
 * at a time as uploads would be; all are over when it returns.
 *
 * @param workers - idle. Throws what a removal threw.
 * @param recorded - files the source had on record before the pass.
 * @param approved - what someone has looked at that would have halted the source.
 * @param isAllowed - whether someone has looked at a halt and lets it through.
 * @param retriesFailed - whether those that failed before are tried again.
 * @returns the halt when there are too many, and nothing was removed.
 */
export async function removeMissing(
  source: Source,
  recorded: number,
  context: WalkContext,
  approved: readonly Halt[],
  isAllowed: (halt: Halt) => boolean,
  retriesFailed: boolean,
  workers: Workers,
): Promise<Halt | null> {
  const { state, clock, config, summary, waitLimits, changeFeed } = context;
  const name = source.config.name;
  const target = state.targetId(source.syncTarget);
  const { removed } = state.countRecorded(target, name);
  const recent = state.countRemovals(name, clock.now() - REMOVAL_WINDOW_MS);
  const isConfirmed = approved.some(({ kind }) => kind === 'replaced' || kind === 'emptied');
  const expected = countBelow(mountsIn(approved), target, name, state);
  const halt = guardRemovals(removed - expected, recent, recorded + recent, config.removals);
  if (halt !== null && !isConfirmed && !isAllowed(halt)) {
    summary.kept += removed;
    return halt;
  }
  // Whoever allowed it has confirmed it. A new name must have been looked at before its old one goes.
  const delayMs = halt === null && approved.length === 0 ? waitLimits.removalMs : 0;
  const missingSinceMs = Math.min(clock.now() - delayMs, changeFeed.seenUntilMs(name));
  const held = retriesFailed ? 0 : state.countFailedRemovals(target, name);
  summary.failed += held;
  let waiting = removed - held;
  const turn = new OutageTurn(context);
  const pageAfter = (path: string) => state.removalsDue(target, name, path, missingSinceMs, retriesFailed);
  for (let page = pageAfter(''); page.length > 0; page = pageAfter(page.at(-1)?.path ?? '')) {
    for (const record of page) {
      await workers.add(() => remove(source, target, record, turn, context));
      // Whether an outage is over is found out by one for all.
      if (context.isWatched && context.breaker.isOpen) await workers.idle();
    }
    waiting -= page.length;
  }
  await workers.idle();
  if (halt !== null) state.forgetRemovals(name);
  // They are left alone for now, as they are meant to be.
  summary.kept += waiting;
  return null;
}

function mountsIn(approved: readonly Halt[]): string[] {
  return approved.flatMap((halt) => (halt.kind === 'unmounted' ? halt.mounts : []));
}

/** How many removals are due below some mounts, none counted twice. */
function countBelow(mounts: readonly string[], target: number, source: string, state: StateReader): number {
  const outermost = mounts.filter((mount) => !mounts.some((other) => mount.startsWith(`${other}/`)));
  return outermost.reduce((sum, mount) => sum + state.countRemovalsBelow(target, source, mount), 0);
}

/**
 * In the daemon nothing else must wait behind removals during an outage. One of them finds out whether it is over, where
 * nothing else does.
 */
class OutageTurn {
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

/** Removes one file, if nothing speaks against it. */
async function remove(
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
  const attemptOnce = async (): Promise<Attempted<Tombstone> | null> => {
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
  const ended = await retry(attemptOnce, ports, stop);
  const mustWait = isWatched && breaker.isOpen && ended?.failure?.kind === 'transient';
  return abort.aborted || mustWait ? null : ended;
}

async function tryToLeaveTombstone(
  botId: string,
  { key }: FileRecord,
  context: WalkContext,
): Promise<Tombstone> {
  const { platform, abort } = context;
  let expiresAtMs = removalExpiry(platform.now());
  let upserted = await platform.upsert(botId, emptyFile(key, expiresAtMs), abort);
  if (upserted.kind === 'failed' && upserted.failure.kind === 'refused') {
    // Its answer told the platform's time. If that makes another expiry of it, our clock was to blame.
    const againMs = removalExpiry(platform.now());
    if (againMs !== expiresAtMs) {
      expiresAtMs = againMs;
      upserted = await platform.upsert(botId, emptyFile(key, expiresAtMs), abort);
    }
  }
  if (upserted.kind === 'failed') return { expiresAtMs, failure: upserted.failure };
  const nothing = { kind: 'whole', bytes: Buffer.alloc(0) } as const;
  const uploaded = await platform.upload(upserted.value, nothing, false, abort);
  return { expiresAtMs, failure: uploaded.kind === 'failed' ? uploaded.failure : null };
}

function emptyFile(key: FileKey, expiresAtMs: number): UpsertBody {
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
