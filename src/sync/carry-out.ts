import { sizeInFingerprint } from '../domain/fingerprint.ts';
import type { FileEvent } from '../domain/report.ts';
import type { RowId } from '../state/state-reader.ts';
import { compareContent } from '../upload/compare-content.ts';
import { noteProblem } from './note-item.ts';
import type { PassContext } from './pass-context.ts';
import type { PlannedSend } from './plan-source.ts';
import { sendWithRetries, type Sent } from './sender.ts';
import type { Source } from './source.ts';

/** Sends one planned file, records what came of it, and reports it. */
export async function carryOut(
  item: PlannedSend,
  source: Source,
  target: number,
  context: PassContext,
): Promise<void> {
  const { state, summary, config, blockade, claims, clock, stop } = context;
  const id: RowId = { target, key: item.key };
  if (item.kind === 'verify' && (await isSame(item, source, id, context))) return;
  if (stop.aborted || blockade.reasonAgainst(source.config.botId, takesRoom(item)) !== null) {
    summary.pending += 1;
    claims.release(target, item.key);
    return;
  }
  const { path, resolved } = item;
  const seen = {
    fingerprint: item.fingerprint,
    trusted: item.trusted,
    settingsDigest: resolved.digest,
    sizeBytes: item.sizeBytes,
  };
  await state.beginSending(id, source.config.name, path, seen, clock.now());
  claims.release(target, item.key);
  const sent = await sendWithRetries(
    { root: source, path, key: item.key, botId: source.config.botId, resolved },
    {
      platform: context.platform,
      limits: config.limits,
      now: clock.now,
      transfer: context.transfer,
      isBlocked: () => blockade.reasonAgainst(source.config.botId, takesRoom(item)) !== null,
      onFailure: (failure) => {
        blockade.note(failure, source.config.botId);
      },
      clock,
      random: context.random,
      outage: context.outage,
      attempts: config.upload.attempts,
      settleMs: config.watch.settleMs,
      onRetry: (_task, reason, delayMs) => {
        context.report.retrying(`${source.config.name}:${path}`, reason, delayMs);
      },
    },
    stop,
    context.abort,
  );
  settle(sent, item, source, id, context);
}

/** Whether a file has the content on record after all; its new fingerprint is recorded then. */
async function isSame(item: PlannedSend, source: Source, id: RowId, context: PassContext): Promise<boolean> {
  const { state, summary, clock, transfer } = context;
  const recorded = state.find(id)?.sha256 ?? null;
  if (recorded === null) return false;
  const compared = await transfer(() => compareContent(source, item.path, recorded, clock.now()));
  if (compared.kind !== 'same') return false;
  state.recordTouched(id, compared.fingerprint, compared.trusted);
  summary.unchanged += 1;
  return true;
}

function settle(sent: Sent, item: PlannedSend, source: Source, id: RowId, context: PassContext): void {
  const { state, summary, report } = context;
  const nowMs = context.clock.now();
  const place = { source: source.config.name, path: item.path, key: item.key };
  const kind = item.reason === 'renewal-due' ? 'renew' : 'upload';
  const reason = item.kind === 'verify' ? 'changed' : item.reason;
  const event = { kind, ...place, reason } satisfies FileEvent;
  const failed = (error: string): void => {
    summary.failed += 1;
    report.event({ ...event, outcome: 'failed', error });
  };
  switch (sent.kind) {
    case 'sent':
      state.recordSynced(id, sent.state, sent.sha256, sent.expiresAtMs, nowMs);
      summary[kind === 'renew' ? 'renewed' : 'uploaded'] += 1;
      summary.bytes += sent.state.sizeBytes;
      report.sent(sent.state.sizeBytes);
      report.event({ ...event, outcome: 'done' });
      break;
    case 'vanished':
    case 'unreadable':
    case 'inadmissible':
      // No upsert was sent. A new file has nothing to remember; for another the intent stands, and it is sent again.
      if (item.record === null) state.forget(id);
      if (sent.kind === 'unreadable')
        noteProblem(context, { ...place, kind: 'problem', reason: sent.reason });
      if (sent.kind === 'inadmissible')
        noteProblem(context, { ...place, kind: 'refuse', reason: sent.reason });
      break;
    case 'unsettled':
      state.recordFailure(id, 'failed', sent.state, UNSETTLED, sent.upserted, nowMs);
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
      state.recordFailure(id, ended, sent.state, failure.message, sent.upserted, nowMs);
      failed(failure.message);
      break;
    }
    case 'not-tried':
      if (item.record === null) state.forget(id);
      summary.pending += 1;
      break;
  }
}

const UNSETTLED = 'it was changed again and again while it was read';

/** Whether the platform will hold more after the sending than before: what a used-up quota does not allow. */
function takesRoom({ record, sizeBytes, resolved }: PlannedSend): boolean {
  if (record?.state !== 'synced' || record.settingsDigest !== resolved.digest) return true;
  return sizeBytes > sizeInFingerprint(record.fingerprint);
}
