import { verdictOnContent } from '../../domain/adoption.ts';
import { isUpdated, planUpdate, type PlannedUpdate } from '../../domain/change-in-place.ts';
import { renewalTime } from '../../domain/expiry.ts';
import type { PlatformFailure } from '../../domain/failure.ts';
import type { CatalogFile } from '../../domain/file-catalog.ts';
import { prepareUpsert } from '../../domain/limits.ts';
import { MARK_NAME, markOf, readMark } from '../../domain/mark.ts';
import { sentSettingsOf, type SentSettings } from '../../domain/settings.ts';
import type { ChangedFile } from '../../store/remote.ts';
import type { RowId } from '../../store/file-reader.ts';
import type { StateStore } from '../../store/state-store.ts';
import type { PlannedSend } from '../plan/plan-item.ts';
import type { Source } from '../sources/source.ts';
import { isPostponed, judge, retryFile, retryPorts, type FileAttempt } from './retry.ts';
import type { WalkContext } from './sync-context.ts';

/** A file whose content the platform has, and whose settings there will change. */
export interface InPlaceTask {
  readonly item: PlannedSend;
  readonly source: Source;
  readonly target: number;
  readonly remoteId: string;
  /** Of the content. */
  readonly sha256: Buffer;
  /** All settings that the platform may have for it. */
  readonly before: readonly SentSettings[];
}

export type InPlaceEnd =
  | { readonly kind: 'changed'; readonly file: CatalogFile; readonly expiresAtMs: number | null }
  /** The content must be sent: the platform's file is not as expected, or it does not serve this. */
  | { readonly kind: 'needs-content' }
  | { readonly kind: 'failed'; readonly failure: PlatformFailure }
  /** An outage or pause was too long to wait for, or a stop. */
  | { readonly kind: 'not-tried' };

/**
 * Changes the settings of a file on the platform without sending its content. Retries transient failures; repeating the
 * request does no harm.
 */
export async function changeInPlace(task: InPlaceTask, context: WalkContext): Promise<InPlaceEnd> {
  const { stop } = context;
  const { item, source } = task;
  const { botId, name } = source.config;
  const attemptOnce = async (): Promise<FileAttempt<InPlaceEnd> | null> => {
    const isBlocked = context.isPaused() || context.round.blockade.reasonAgainst(botId, false) !== null;
    if (stop.aborted || isBlocked || !context.roots.isThereNow(source)) return null;
    const result = await changeOnce(task, context);
    const failure = result.kind === 'failed' ? result.failure : null;
    if (failure !== null && isPostponed(failure)) return null;
    if (failure !== null) context.round.blockade.note(failure, botId);
    if (context.abort.aborted) return { result, met: 'nothing', retryReason: null };
    return { result, ...judge(failure) };
  };
  const ended = await retryFile(attemptOnce, retryPorts(name, item.path, 0, context), stop);
  if (ended === null || (ended.kind === 'failed' && context.abort.aborted)) return { kind: 'not-tried' };
  return ended;
}

/** @param refusedMs - the expiry that was refused before, epoch milliseconds. */
async function changeOnce(task: InPlaceTask, context: WalkContext, refusedMs?: number): Promise<InPlaceEnd> {
  const { catalog, platform, abort } = context;
  const { item, source, target, remoteId } = task;
  const { settings } = item.resolved;
  const prepared = prepareUpsert(item.key, item.sizeBytes, settings, platform.now());
  if (catalog === null || prepared.kind === 'refuse') return { kind: 'needs-content' };
  const { body, expiresAtMs } = prepared;
  if (expiresAtMs === refusedMs) return { kind: 'needs-content' };
  const planned = planUpdate(body, expiresAtMs, task.before, markFor(task, context));
  const at = { target, botId: source.config.botId };
  const answered = await catalog.update(at, remoteId, planned.facts, abort);
  if (answered.kind === 'ok') {
    const file = answered.value;
    return isAsAsked(file, planned, task)
      ? { kind: 'changed', file, expiresAtMs }
      : { kind: 'needs-content' };
  }
  const { failure } = answered;
  switch (failure.kind) {
    case 'refused':
      // The answer contained the platform's time. If the expiry differs with it, our clock caused the refusal.
      if (expiresAtMs !== null && refusedMs === undefined) return changeOnce(task, context, expiresAtMs);
      return { kind: 'needs-content' };
    case 'not-served':
    case 'not-found':
    case 'credentials':
      // Sending the file shows what is wrong with it or with the credentials.
      return { kind: 'needs-content' };
    case 'quota':
    case 'transient':
      return { kind: 'failed', failure };
  }
}

function markFor({ sha256, source }: InPlaceTask, { config }: WalkContext) {
  return config.platform.mark ? { [MARK_NAME]: markOf(sha256, source.config.name) } : null;
}

function isAsAsked(file: CatalogFile, planned: PlannedUpdate, { item, remoteId }: InPlaceTask): boolean {
  const { sizeBytes, resolved } = item;
  return isUpdated(file, planned, sentSettingsOf(resolved.settings), { remoteId, sizeBytes });
}

/** Returns the task of changing a recorded file; `null` if too little is known about it. */
export function inPlaceTaskOf(
  item: PlannedSend,
  source: Source,
  id: RowId,
  state: StateStore,
): InPlaceTask | null {
  const stored = state.find(id);
  if (stored === null) return null;
  const { sha256, settingsDigest, remoteId, changing } = stored;
  if (sha256 === null || remoteId === null) return null;
  const digests = [settingsDigest, ...(changing === null ? [] : [changing])];
  const before = digests.flatMap((digest) => state.remote.toldSettings(digest) ?? []);
  // Its old settings need to be known only if they change: a renewal changes nothing else.
  const tellsOther = digests.some((digest) => digest !== item.resolved.digest);
  if (tellsOther && before.length < digests.length) return null;
  return { item, source, target: id.target, remoteId, sha256, before };
}

/** Returns the record of a file that was changed in place. `nowMs`: epoch milliseconds. */
export function changedFileOf(
  { item, sha256 }: InPlaceTask,
  { file, expiresAtMs }: Extract<InPlaceEnd, { kind: 'changed' }>,
  nowMs: number,
): ChangedFile {
  const { settings, digest } = item.resolved;
  return {
    settingsDigest: digest,
    expiresAtMs,
    renewAtMs: expiresAtMs === null ? null : renewalTime(settings.expiry, expiresAtMs),
    ...verdictOnContent(file, { sizeBytes: item.sizeBytes, sha256 }, settings.index, nowMs),
    isMarked: readMark(file.metadata) !== null,
  };
}
