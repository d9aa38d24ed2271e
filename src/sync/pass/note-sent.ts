import { renewalTime } from '../../domain/expiry.ts';
import { FIRST_ASKED_AFTER_MS } from '../../domain/confirmation.ts';
import type { PlatformFailure } from '../../domain/failure.ts';
import type { FileEvent } from '../../domain/report.ts';
import { sentSettingsOf } from '../../domain/settings.ts';
import type { RowId } from '../../store/file-reader.ts';
import type { Attempt, Lifetime, SendFailure, SentAs } from '../../store/state-store.ts';
import { kindOfSend } from '../plan/outcome.ts';
import type { PlannedSend } from '../plan/plan-item.ts';
import type { Source } from '../sources/source.ts';
import { noteProblem } from './note-item.ts';
import type { Sent } from './send-file.ts';
import type { WalkContext } from './sync-context.ts';

const UNSETTLED = 'it kept changing while it was read';

/** The error of a failed file whose last attempt was not made. */
export const NOT_FINISHED = 'an earlier attempt failed, and the file could not be sent again';

export interface TriedFile {
  readonly id: RowId;
  readonly item: PlannedSend;
  readonly source: Source;
  /** Duration of the last attempt, milliseconds. */
  readonly tookMs: number;
}

/**
 * Counts, reports and records the result of sending a file. A file that was not tried is only counted.
 *
 * @param mayBeThere - an attempt may have left something on the platform.
 */
export function noteSent(sent: Sent, mayBeThere: boolean, file: TriedFile, context: WalkContext): void {
  const { summary } = context;
  switch (sent.kind) {
    case 'sent':
      noteSuccess(sent, file, context);
      break;
    case 'vanished':
      break;
    case 'unreadable':
    case 'inadmissible': {
      const kind = sent.kind === 'unreadable' ? 'problem' : 'refuse';
      const { path, key } = file.item;
      noteProblem(context, { kind, source: file.source.config.name, path, key, reason: sent.reason });
      break;
    }
    case 'unsettled': {
      const failure = { state: 'failed', reason: UNSETTLED, upserted: mayBeThere } as const;
      noteFailure(sent.state, failure, file, context, null);
      break;
    }
    case 'failed': {
      if (context.abort.aborted) {
        // We broke it off: the recorded intent is enough.
        summary.pending += 1;
        break;
      }
      const state = sent.failure.kind === 'refused' ? 'refused' : 'failed';
      const failure = { state, reason: sent.failure.message, upserted: mayBeThere } as const;
      noteFailure(sent.state, failure, file, context, sent.failure);
      break;
    }
    case 'not-tried':
      summary.pending += 1;
      break;
  }
}

function noteSuccess(sent: Extract<Sent, { kind: 'sent' }>, file: TriedFile, context: WalkContext): void {
  const { state, summary, emit, clock } = context;
  const { sizeBytes } = sent.state;
  const event = eventOf(file);
  if (event.kind === 'upload') tellDelivery(sent, file, context);
  state.remote.rememberSettings(sent.state.settingsDigest, () => sentSettingsOf(sent.settings));
  const as = sentAs(sent, file, context);
  state.recordSynced(file.id, sent.state, sent.sha256, as, clock.now());
  if (as.askAtMs !== null) context.confirmations?.noteSent();
  summary[kindOfSend(file.item).counts] += 1;
  if (file.item.found?.kind === 'foreign') summary.overwritten += 1;
  summary.bytes += sizeBytes;
  emit({ kind: 'sent', bytes: sizeBytes });
  emit({
    kind: 'file',
    file: { ...event, outcome: 'done' },
    transferred: { bytes: sizeBytes, durationMs: file.tookMs },
  });
}

function noteFailure(
  attempt: Attempt,
  failure: SendFailure,
  file: TriedFile,
  context: WalkContext,
  answer: PlatformFailure | null,
): void {
  const { state, summary, emit, clock, breaker } = context;
  state.recordFailure(file.id, attempt, failure, clock.now());
  summary.failed += 1;
  const event = eventOf(file);
  // During an outage, the same files fail with each probe.
  const isKnown = breaker.isOpen && event.reason === 'failed-before';
  emit({
    kind: 'file',
    file: { ...event, outcome: 'failed', error: failure.reason },
    ...(answer !== null && { failure: answer }),
    isKnown,
  });
}

function eventOf({ item, source }: TriedFile): FileEvent {
  const { kind, reason } = kindOfSend(item);
  return { kind, source: source.config.name, path: item.path, key: item.key, reason };
}

/** Announces new content. Content that was sent again, for its settings or to be sure, is not new. */
function tellDelivery(
  { sha256, url }: Extract<Sent, { kind: 'sent' }>,
  { id, item: { path, resolved }, source }: TriedFile,
  { state, onDelivery }: WalkContext,
): void {
  if (onDelivery === undefined || state.find(id)?.sha256?.equals(sha256) === true) return;
  const isPublic = resolved.settings.accessPolicies.includes('public_content');
  onDelivery({ source: source.config.name, path, ...id, sha256, isPublic, publicUrl: isPublic ? url : null });
}

function sentAs(
  { expiresAtMs, remoteId, isMarked }: Extract<Sent, { kind: 'sent' }>,
  { item }: TriedFile,
  { catalog, clock, config }: WalkContext,
): SentAs {
  const canAsk = catalog !== null && remoteId !== null;
  return {
    ...lifetimeOf(item, expiresAtMs),
    remoteId,
    askAtMs: canAsk ? clock.now() + FIRST_ASKED_AFTER_MS : null,
    isMarkDue: canAsk && config.platform.mark && !isMarked,
    isMarked,
  };
}

function lifetimeOf({ resolved }: PlannedSend, expiresAtMs: number | null): Lifetime {
  const renewAtMs = expiresAtMs === null ? null : renewalTime(resolved.settings.expiry, expiresAtMs);
  return { expiresAtMs, renewAtMs };
}
