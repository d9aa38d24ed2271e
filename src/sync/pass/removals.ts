import type { FileKey } from '../../domain/brands.ts';
import type { PlatformFailure } from '../../domain/failure.ts';
import { removalExpiry } from '../../domain/expiry.ts';
import { guardRemovals, REMOVAL_WINDOW_MS, type Halt } from '../../domain/guard.ts';
import type { UpsertBody } from '../../domain/limits.ts';
import type { FileRecord } from '../../domain/record.ts';
import { retryDelayMs } from '../../domain/retry-delay.ts';
import type { Verdict } from '../../upload/outage.ts';
import type { RowId, StateReader } from '../../state/state-reader.ts';
import { isStillThere } from '../sources/directory-identity.ts';
import { areMountsThere } from '../sources/mounts.ts';
import type { WalkContext } from './engine.ts';
import { presenceOf } from '../sources/presence.ts';
import type { Source } from '../sources/source.ts';

/**
 * Removes from the platform what was removed from a source, after all uploads of the pass: a renamed file is there
 * under its new key before it goes under the old one. What may be a renamed file that could not be sent stays.
 *
 * The interface has no delete. The key is taken over by an empty file that expires in two minutes.
 *
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
): Promise<Halt | null> {
  const { state, clock, config, summary, patience, outlook } = context;
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
  const delayMs = halt === null && approved.length === 0 ? patience.removalMs : 0;
  const missingSinceMs = Math.min(clock.now() - delayMs, outlook.seenUntilMs(name));
  const held = retriesFailed ? 0 : state.countFailedRemovals(target, name);
  summary.failed += held;
  let waiting = removed - held;
  let mayProbe = true;
  const pageAfter = (path: string) => state.removalsDue(target, name, path, missingSinceMs, retriesFailed);
  for (let page = pageAfter(''); page.length > 0; page = pageAfter(page.at(-1)?.path ?? '')) {
    for (const record of page) {
      if (await remove(source, target, record, context, mayProbe)) mayProbe = false;
    }
    waiting -= page.length;
  }
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

/** Removes one file, if nothing speaks against it. Returns whether the platform was asked to. */
async function remove(
  source: Source,
  target: number,
  record: FileRecord,
  context: WalkContext,
  mayProbe: boolean,
): Promise<boolean> {
  const { state, clock, report, summary, round, flights } = context;
  const { botId, name } = source.config;
  const id = { target, key: record.key };
  let isAsked = false;
  await flights.run(id, null, async () => {
    // During an outage nothing else must wait behind them; but one finds out whether it is over, where nothing else does.
    const { isWatched, outage } = context;
    const isItsTurn = !isWatched || !outage.isOn || (mayProbe && !outage.isProbing);
    if (!isItsTurn || !isStillDue(id, name, record, state) || !mayGo(source, record, context)) {
      summary.pending += 1;
      return;
    }
    isAsked = true;
    await state.beginRemoving(id, clock.now());
    const ended = await putAway(source, record, context);
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
  return isAsked;
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

interface PutAway extends Verdict {
  readonly expiresAtMs: number;
  readonly failure: PlatformFailure | null;
}

interface NotTried extends Verdict {
  readonly met: 'nothing';
}

/** Puts one file away, again after transient failures. `null`: it was not tried, or broken off by us. */
async function putAway(source: Source, record: FileRecord, context: WalkContext): Promise<PutAway | null> {
  const { config, patience, clock, random, stop, abort, outage } = context;
  const attemptOnce = async (): Promise<PutAway | NotTried> =>
    mayGo(source, record, context)
      ? await attemptToPutAway(source.config.botId, record, context)
      : { met: 'nothing' };
  for (let attempt = 1; ; attempt++) {
    const ended = await outage.attempt(attemptOnce, stop);
    if (ended === null || abort.aborted || !('failure' in ended)) return null;
    const { failure, retryAfterMs = 0 } = ended;
    const isFinal = failure?.kind !== 'transient' || attempt >= config.upload.attempts || stop.aborted;
    // What else waits for the platform must not wait behind this.
    if (context.isWatched && outage.isOn) return null;
    if (isFinal || retryAfterMs > patience.pauseMs) return ended;
    await clock.sleep(retryDelayMs(attempt, random(), retryAfterMs), stop);
  }
}

async function attemptToPutAway(
  botId: string,
  { key }: FileRecord,
  context: WalkContext,
): Promise<PutAway | NotTried> {
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
  if (upserted.kind === 'failed') {
    const { failure } = upserted;
    if (failure.kind === 'transient' && failure.postponed === true) return { met: 'nothing' };
    return failedBy(failure, expiresAtMs);
  }
  const uploaded = await platform.upload(
    upserted.value,
    { kind: 'whole', bytes: Buffer.alloc(0) },
    false,
    abort,
  );
  if (uploaded.kind === 'failed') return failedBy(uploaded.failure, expiresAtMs);
  return { met: 'answer', expiresAtMs, failure: null };
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

function failedBy(failure: PlatformFailure, expiresAtMs: number): PutAway {
  if (failure.kind !== 'transient') return { met: 'answer', expiresAtMs, failure };
  return { met: 'failure', retryAfterMs: failure.retryAfterMs, expiresAtMs, failure };
}
