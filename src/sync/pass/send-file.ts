import type { FileKey, RelativePath } from '../../domain/key.ts';
import type { PlatformFailure } from '../../domain/failure.ts';
import type { FilePlatform } from '../../domain/file-catalog.ts';
import { fingerprintOf, isTrustworthy, nanoseconds, type Fingerprint } from '../../domain/fingerprint.ts';
import { admit, prepareUpsert, type Limits } from '../../domain/limits.ts';
import { markOf } from '../../domain/mark.ts';
import type { FileRefusal, PathFault } from '../../domain/obstacle.ts';
import type { ResolvedSettings } from '../../domain/rules.ts';
import type { FileSettings } from '../../domain/settings.ts';
import { ChangedWhileRead, readContent, type HashedContent } from '../../files/read-content.ts';
import { sendContent } from './send-content.ts';
import { openSourceFile, type SourceFile, type SourceRoot } from '../../files/source-file.ts';
import { isPostponed, judge, retryFile, type FileAttempt, type RetryPorts } from './retry.ts';

export interface SendTask {
  readonly root: SourceRoot;
  readonly path: RelativePath;
  readonly key: FileKey;
  readonly botId: string;
  /** As the rules give them, before the limits are applied. */
  readonly resolved: ResolvedSettings;
  /** The source's name if the content will be marked (see `markOf`); `null`: no mark. */
  readonly markedAs: string | null;
}

/** The file when it was read for an attempt. */
export interface SentSnapshot {
  readonly fingerprint: Fingerprint;
  readonly trusted: boolean;
  readonly settingsDigest: string;
  readonly sizeBytes: number;
}

export type SendResult =
  | {
      readonly kind: 'sent';
      readonly state: SentSnapshot;
      /** The settings that were sent. */
      readonly settings: FileSettings;
      readonly sha256: Buffer;
      readonly expiresAtMs: number | null;
      /** The platform's id of the file; `null`: not reported. */
      readonly remoteId: string | null;
      /** The upsert carried the mark of the content. */
      readonly isMarked: boolean;
      /** Address of the content (see `UpsertedFile`): may be a secret. */
      readonly url: string | null;
    }
  | { readonly kind: 'vanished' }
  | { readonly kind: 'unreadable'; readonly reason: PathFault; readonly upserted: boolean }
  /** Not sent, because of the limits or the platform's stated rules: the file changed since it was planned. */
  | { readonly kind: 'inadmissible'; readonly reason: FileRefusal }
  /** Changed while it was read: what was sent is not reliable. */
  | { readonly kind: 'unsettled'; readonly state: SentSnapshot; readonly upserted: boolean }
  /** `upserted`: the platform carried out the upsert, or may have. */
  | {
      readonly kind: 'failed';
      readonly state: SentSnapshot;
      readonly failure: PlatformFailure;
      readonly upserted: boolean;
    };

export interface SendPorts {
  readonly platform: FilePlatform;
  readonly limits: Limits;
  /** Our wall clock, epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Sends a file once: open, check, upsert, upload. What it reports as sent is what was read and sent. The intent must be
 * recorded before, because an upsert erases the content on the platform.
 */
export async function sendFile(task: SendTask, ports: SendPorts, signal: AbortSignal): Promise<SendResult> {
  const readingBeganMs = ports.now();
  const opened = openSourceFile(task.root, task.path);
  if (opened.kind === 'vanished') return opened;
  if (opened.kind === 'unreadable') return { ...opened, upserted: false };
  const { file } = opened;
  try {
    const admission = admit(task.resolved, file.sizeBytes, ports.limits);
    if (admission.kind !== 'send') return { kind: 'inadmissible', reason: admission.reason };
    const state: SentSnapshot = {
      fingerprint: fingerprintOf(file.facts),
      trusted: isTrustworthy(file.facts, nanoseconds(readingBeganMs)),
      settingsDigest: admission.resolved.digest,
      sizeBytes: file.sizeBytes,
    };
    const { settings } = admission.resolved;
    return await sendOpenFile(task, { file, state, settings }, ports.platform, signal);
  } finally {
    await file.close();
  }
}

/** An open file that passed the limits. */
interface OpenedFile {
  readonly file: SourceFile;
  readonly state: SentSnapshot;
  /** After the limits are applied. */
  readonly settings: FileSettings;
}

async function sendOpenFile(
  { botId, key, markedAs }: SendTask,
  { file, state, settings }: OpenedFile,
  platform: FilePlatform,
  signal: AbortSignal,
): Promise<SendResult> {
  let content: HashedContent;
  try {
    content = readContent(file);
  } catch (error) {
    return readFailure(error, state, false);
  }
  // The digest of large content is known only after it was sent.
  const isMarked = markedAs !== null && content.content.kind === 'whole';
  const mark = isMarked ? markOf(content.digest(), markedAs) : null;
  const prepare = () => prepareUpsert(key, state.sizeBytes, settings, platform.now(), mark);
  const ended = await sendContent(platform, botId, prepare, content.content, signal);
  switch (ended.kind) {
    case 'refuse':
      return { kind: 'inadmissible', reason: ended.reason };
    case 'sent': {
      const { expiresAtMs, remoteId, url } = ended;
      const sha256 = content.digest();
      return { kind: 'sent', state, settings, sha256, expiresAtMs, remoteId, isMarked, url };
    }
    case 'failed': {
      const { failure, upserted } = ended;
      const readError = content.readError();
      if (readError !== null) return readFailure(readError, state, upserted);
      return { kind: 'failed', state, failure, upserted };
    }
  }
}

function readFailure(error: unknown, state: SentSnapshot, upserted: boolean): SendResult {
  if (error instanceof ChangedWhileRead) return { kind: 'unsettled', state, upserted };
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return { kind: 'unreadable', reason: { kind: 'unreadable', code }, upserted };
}

/** The result of sending a file, after all attempts. */
export type Sent =
  | SendResult
  /** No attempt was made: an outage or pause was too long to wait for, or a stop. */
  | { readonly kind: 'not-tried' };

export interface SenderPorts extends SendPorts, RetryPorts {
  /** Returns whether other files have shown that this one cannot be sent now. */
  readonly isBlocked: () => boolean;
  /** Called after each attempt, before the next transfer begins. */
  readonly onAttempt: (result: SendResult) => void;
  /** The pause before a file is read again that was written while it was read, milliseconds. */
  readonly settleMs: number;
}

/**
 * Sends a file. Retries after transient failures, and if it changed while it was read.
 *
 * @param stop - no attempt begins once it aborts.
 * @param abort - breaks off the running attempt.
 */
export async function sendWithRetries(
  task: SendTask,
  ports: SenderPorts,
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<Sent> {
  const attemptOnce = async (): Promise<FileAttempt<SendResult> | null> => {
    if (stop.aborted || ports.isBlocked()) return null;
    const result = await sendFile(task, ports, abort);
    if (result.kind === 'failed' && !result.upserted && isPostponed(result.failure)) return null;
    ports.onAttempt(result);
    if (abort.aborted) return { result, met: 'nothing', retryReason: null };
    return { result, ...judgeResult(result, ports.settleMs) };
  };
  return (await retryFile(attemptOnce, ports, stop)) ?? { kind: 'not-tried' };
}

function judgeResult(result: SendResult, settleMs: number): Omit<FileAttempt<SendResult>, 'result'> {
  switch (result.kind) {
    case 'sent':
      return judge(null);
    case 'failed':
      return judge(result.failure);
    case 'unsettled':
      return { met: 'own', retryReason: 'it was changed while it was read', pauseMs: settleMs };
    case 'vanished':
    case 'unreadable':
    case 'inadmissible':
      return { met: 'nothing', retryReason: null };
  }
}
