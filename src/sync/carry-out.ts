import type { FileEvent } from '../domain/report.ts';
import type { RowId } from '../state/state-reader.ts';
import type { SendTask } from '../upload/send-file.ts';
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
  const { state, summary, config, blockade, claims } = context;
  const id: RowId = { target, key: item.key };
  const botId = source.config.botId;
  if (item.kind === 'send' && blockade.reasonAgainst(botId, takesRoom(item)) !== null) {
    summary.pending += 1;
    return;
  }
  const task: SendTask = {
    root: source,
    path: item.path,
    key: item.key,
    botId,
    resolved: item.resolved,
    unlessSha256: item.kind === 'verify' ? (state.find(id)?.sha256 ?? null) : null,
  };
  const sent = await sendWithRetries(
    task,
    {
      platform: context.platform,
      limits: config.limits,
      now: context.clock.now,
      beginSending: async (attempt) => {
        // Another worker may have met with an obstacle since this file was planned, or while it was hashed.
        if (blockade.reasonAgainst(botId, takesRoom(item)) !== null) return false;
        const durable = state.beginSending(id, source.config.name, item.path, attempt, context.clock.now());
        claims.release(target, item.key);
        await durable;
        return true;
      },
      clock: context.clock,
      random: context.random,
      outage: context.outage,
      attempts: config.upload.attempts,
      settleMs: config.watch.settleMs,
      onRetry: (_task, reason, delayMs) => {
        context.report.retrying(`${source.config.name}:${item.path}`, reason, delayMs);
      },
    },
    context.stop,
    context.abort,
  );
  settle(sent, item, source, id, context);
}

function settle(sent: Sent, item: PlannedSend, source: Source, id: RowId, context: PassContext): void {
  const { state, summary, report, blockade } = context;
  const nowMs = context.clock.now();
  const name = source.config.name;
  const event = {
    kind: item.reason === 'renewal-due' ? 'renew' : 'upload',
    source: name,
    path: item.path,
    key: item.key,
    reason: item.kind === 'verify' ? 'changed' : item.reason,
  } satisfies FileEvent;
  const failed = (error: string): void => {
    summary.failed += 1;
    report.event({ ...event, outcome: 'failed', error });
  };
  switch (sent.kind) {
    case 'sent':
      state.recordSynced(id, sent.state, sent.sha256, sent.expiresAtMs, nowMs);
      summary[event.kind === 'renew' ? 'renewed' : 'uploaded'] += 1;
      summary.bytes += sent.state.sizeBytes;
      report.sent(sent.state.sizeBytes);
      report.event({ ...event, outcome: 'done' });
      break;
    case 'same':
      state.recordTouched(id, sent.state.fingerprint, sent.state.trusted);
      summary.unchanged += 1;
      break;
    case 'vanished':
      // Gone again before it was sent; if it has a record, the next pass finds it without a file.
      context.claims.release(id.target, id.key);
      break;
    case 'unreadable':
      noteProblem(context, {
        source: name,
        path: item.path,
        key: item.key,
        kind: 'problem',
        reason: sent.reason,
      });
      break;
    case 'refused-here':
      noteProblem(context, {
        source: name,
        path: item.path,
        key: item.key,
        kind: 'refuse',
        reason: sent.reason,
      });
      break;
    case 'skipped':
      summary.skipped += 1;
      report.event({ kind: 'skip', source: name, path: item.path, key: item.key, reason: sent.reason });
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
      blockade.note(failure, source.config.botId);
      state.recordFailure(
        id,
        failure.kind === 'refused' ? 'refused' : 'failed',
        sent.state,
        failure.message,
        sent.upserted,
        nowMs,
      );
      failed(failure.message);
      break;
    }
    case 'held-back':
    case 'not-tried':
      summary.pending += 1;
      break;
  }
}

const UNSETTLED = 'it was changed again and again while it was read';

/** Whether the platform will hold more after the sending than before: what a used-up quota does not allow. */
function takesRoom({ record, sizeBytes, resolved }: PlannedSend): boolean {
  if (record?.state !== 'synced' || record.settingsDigest !== resolved.digest) return true;
  return sizeBytes > Number.parseInt(record.fingerprint, 10);
}
