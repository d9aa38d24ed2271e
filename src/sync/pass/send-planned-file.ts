import { renewalTime } from '../../domain/expiry.ts';
import { sizeInFingerprint } from '../../domain/fingerprint.ts';
import type { FileRecord } from '../../domain/record.ts';
import type { RowId } from '../../state/state-reader.ts';
import type { Lifetime } from '../../state/state-store.ts';
import { compareContent } from '../../upload/compare-content.ts';
import type { SendTask } from '../../upload/send-file.ts';
import { noteProblem } from './note-item.ts';
import { isStillThere } from '../sources/directory-identity.ts';
import type { WalkContext } from './sync-context.ts';
import type { PlannedSend } from '../plan/plan-source.ts';
import { retryPorts } from './retry-ports.ts';
import { sendWithRetries, type SenderPorts, type Sent } from './sender.ts';
import type { Source } from '../sources/source.ts';

/** Sends one planned file, records what came of it, and reports it. */
export function sendPlannedFile(
  item: PlannedSend,
  source: Source,
  target: number,
  context: WalkContext,
): Promise<void> {
  const id: RowId = { target, key: item.key };
  const { file: stage } = context.stages;
  return context.flights.run(id, item.fingerprint, async (hadToWait) => {
    stage.begin();
    try {
      await sendInItsTurn(item, source, id, hadToWait, context);
    } finally {
      stage.end();
    }
  });
}

async function sendInItsTurn(
  item: PlannedSend,
  source: Source,
  id: RowId,
  hadToWait: boolean,
  context: WalkContext,
): Promise<void> {
  const { state, summary, config, round, claims, clock, stop } = context;
  const { target } = id;
  // What was planned by may be old: a look at this file may have sent it since.
  const before = hadToWait || round.hasLooks ? state.find(id) : item.record;
  const mayBeSame = item.kind === 'verify' || (before !== item.record && wasSentSince(item, before));
  if (mayBeSame && (await isSame(item, source, id, context))) {
    claims.release(target, item.key);
    return;
  }
  const name = source.config.name;
  const obstacle = (): string | null => round.blockade.reasonAgainst(source.config.botId, takesRoom(item));
  const isRootThere = await context.roots.isThere(source);
  // Since it was planned, patterns may have come that leave it out, or another directory in the place of the source's.
  const isAstray = context.changeFeed.ignores(name, item.path) || !isRootThere;
  if (stop.aborted || context.breaker.isHopeless || obstacle() !== null || isAstray) {
    summary.pending += 1;
    round.unsent.add(name, item.path, item.fingerprint);
    if (before !== null && !isAstray) notePending(item, source, obstacle(), context);
    claims.release(target, item.key);
    return;
  }
  const { path, ruled, resolved } = item;
  if (resolved.settings.index) context.indexWarnings.note(path);
  const seen = {
    fingerprint: item.fingerprint,
    trusted: item.trusted,
    settingsDigest: resolved.digest,
    sizeBytes: item.sizeBytes,
  };
  const noted = state.beginSending(id, name, path, seen, clock.now());
  // From here on its row speaks for it.
  claims.release(target, item.key);
  // An attempt that failed may have left something of this file on the platform.
  let mayBeThere = false as boolean;
  const task: SendTask = {
    root: source,
    path,
    key: item.key,
    botId: source.config.botId,
    resolved: ruled,
  };
  const ports: SenderPorts = {
    ...retryPorts(name, path, item.sizeBytes, context),
    platform: context.platform,
    limits: config.limits,
    now: clock.now,
    // A transfer may have been waited for, and an outage for hours.
    isBlocked: () => obstacle() !== null || !context.roots.isThereNow(source),
    onAttempt: (result) => {
      if (result.kind === 'failed') round.blockade.note(result.failure, source.config.botId);
      mayBeThere ||= 'upserted' in result && result.upserted;
    },
    settleMs: config.watch.settleMs,
  };
  await noted;
  const sent = await sendWithRetries(task, ports, stop, context.abort);
  const wasNeverThere = sent.kind === 'failed' && context.abort.aborted && !mayBeThere;
  if (isWithoutUpsert(sent) || wasNeverThere) {
    if (mayBeThere) state.recordFailure(id, 'failed', seen, NOT_FINISHED, true, clock.now());
    else if (before === null) {
      state.forget(id);
      for (const other of claims.takeOthers(target, item.key))
        context.changeFeed.lookAgain(other.source, other.path);
    } else state.takeBack(id, before.state);
  }
  // Where changes are watched, a file that vanished because it was renamed turns up by itself, once it stands still.
  if (sent.kind === 'vanished') {
    const { settleMs, maxDelayMs } = config.watch;
    round.unsent.addVanished(item.fingerprint, clock.monotonic() + settleMs + maxDelayMs);
    context.changeFeed.lookAgain(name, path);
  }
  const isNoLoss = sent.kind === 'sent' || (sent.kind === 'vanished' && context.isWatched);
  if (!isNoLoss) round.unsent.add(name, path, item.fingerprint);
  recordOutcome(sent, mayBeThere, item, source, id, context);
}

const NOT_FINISHED = 'an earlier attempt failed, and the file could not be sent again';

/** What is on record of a file is not what it is now, so that it does not count as in sync. */
function notePending(
  { path, key }: PlannedSend,
  source: Source,
  obstacle: string | null,
  { state, round, stop }: WalkContext,
): void {
  const why = obstacle ?? (stop.aborted ? 'it was stopped' : 'the platform does not take it now');
  state.noteProblem(
    { source: source.config.name, path, key, kind: 'pending', reason: `changed, and not sent yet: ${why}` },
    round.pass,
  );
}

/** Whether the last attempt ended before its upsert. */
function isWithoutUpsert({ kind }: Sent): boolean {
  return kind === 'vanished' || kind === 'unreadable' || kind === 'inadmissible' || kind === 'not-tried';
}

/** Whether a file has the content on record after all; its new fingerprint is recorded then. */
async function isSame(item: PlannedSend, source: Source, id: RowId, context: WalkContext): Promise<boolean> {
  const { state, summary, clock, transfer } = context;
  const stored = state.find(id);
  const recorded = stored?.sha256 ?? null;
  if (stored === null || recorded === null) return false;
  const compared = await transfer(() => compareContent(source, item.path, recorded, clock.now()), 0);
  if (compared.kind !== 'same') {
    // Nothing else would show it to the next pass, should it not be sent now.
    if (item.reason === 'in-doubt') state.recordTouched(id, stored.fingerprint, false);
    return false;
  }
  state.recordTouched(id, compared.fingerprint, compared.trusted);
  summary.unchanged += 1;
  return true;
}

function recordOutcome(
  sent: Sent,
  mayBeThere: boolean,
  item: PlannedSend,
  source: Source,
  id: RowId,
  context: WalkContext,
): void {
  const { state, summary, report } = context;
  const nowMs = context.clock.now();
  const { path, key } = item;
  const name = source.config.name;
  const kind = item.reason === 'renewal-due' ? 'renew' : 'upload';
  const reason = item.kind === 'verify' ? 'changed' : item.reason;
  const failed = (error: string): void => {
    summary.failed += 1;
    report.event({ kind, source: name, path, key, reason, outcome: 'failed', error });
  };
  switch (sent.kind) {
    case 'sent':
      if (kind === 'upload') tellDelivery(sent, item, name, id, context);
      state.recordSynced(id, sent.state, sent.sha256, lifetimeOf(item, sent.expiresAtMs), nowMs);
      summary[kind === 'renew' ? 'renewed' : 'uploaded'] += 1;
      summary.bytes += sent.state.sizeBytes;
      report.sent(sent.state.sizeBytes);
      report.event({ kind, source: name, path, key, reason, outcome: 'done' });
      break;
    case 'vanished':
    case 'unreadable':
    case 'inadmissible':
      if (sent.kind === 'unreadable')
        noteProblem(context, { kind: 'problem', source: name, path, key, reason: sent.reason });
      if (sent.kind === 'inadmissible')
        noteProblem(context, { kind: 'refuse', source: name, path, key, reason: sent.reason });
      break;
    case 'unsettled':
      state.recordFailure(id, 'failed', sent.state, UNSETTLED, mayBeThere, nowMs);
      failed(UNSETTLED);
      break;
    case 'failed': {
      const { failure } = sent;
      if (context.abort.aborted) {
        // Broken off by us: the intent on record says all there is to say.
        summary.pending += 1;
        break;
      }
      const ended = failure.kind === 'refused' ? 'refused' : 'failed';
      state.recordFailure(id, ended, sent.state, failure.message, mayBeThere, nowMs);
      failed(failure.message);
      break;
    }
    case 'not-tried':
      summary.pending += 1;
      // Of a directory that came in the place of the source's there is nothing to say.
      if (item.record !== null && isStillThere(source)) {
        const obstacle = context.round.blockade.reasonAgainst(source.config.botId, takesRoom(item));
        notePending(item, source, obstacle, context);
      }
      break;
  }
}

/** Tells of a content that was not on record: what was sent for its settings or to be sure is nothing new. */
function tellDelivery(
  { sha256, url }: Extract<Sent, { kind: 'sent' }>,
  { path, key, resolved }: PlannedSend,
  source: string,
  id: RowId,
  { state, onDelivery }: WalkContext,
): void {
  if (onDelivery === undefined || state.find(id)?.sha256?.equals(sha256) === true) return;
  const isPublic = resolved.settings.accessPolicies.includes('public_content');
  const { target } = id;
  onDelivery({ source, path, key, target, sha256, isPublic, publicUrl: isPublic ? url : null });
}

const UNSETTLED = 'it was changed again and again while it was read';

/** Whether the file was sent with these settings since it was planned; the content is still to be compared. */
function wasSentSince(item: PlannedSend, now: FileRecord | null): boolean {
  if (now?.state !== 'synced' || item.reason === 'forced') return false;
  if (item.reason === 'renewal-due' && now.expiresAtMs === item.record?.expiresAtMs) return false;
  return now.fingerprint === item.fingerprint && now.settingsDigest === item.resolved.digest;
}

function lifetimeOf({ resolved }: PlannedSend, expiresAtMs: number | null): Lifetime {
  const renewAtMs = expiresAtMs === null ? null : renewalTime(resolved.settings.expiry, expiresAtMs);
  return { expiresAtMs, renewAtMs };
}

/** Whether the platform will hold more after the sending than before: what a used-up quota does not allow. */
function takesRoom({ record, sizeBytes, resolved }: PlannedSend): boolean {
  if (record?.state !== 'synced' || record.settingsDigest !== resolved.digest) return true;
  return sizeBytes > sizeInFingerprint(record.fingerprint);
}
