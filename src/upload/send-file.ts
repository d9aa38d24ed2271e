import type { FileKey, RelativePath } from '../domain/brands.ts';
import type { PlatformFailure } from '../domain/failure.ts';
import type { FilePlatform } from '../domain/file-platform.ts';
import { fingerprintOf, isTrustworthy, nanoseconds, type Fingerprint } from '../domain/fingerprint.ts';
import { admit, prepareUpsert, type Limits } from '../domain/limits.ts';
import type { ResolvedSettings } from '../domain/rules.ts';
import { ChangedWhileRead, readContent, type HashedContent } from './read-content.ts';
import { openSourceFile, type SourceFile, type SourceRoot } from './source-file.ts';

/** A file to send. */
export interface SendTask {
  readonly root: SourceRoot;
  readonly path: RelativePath;
  readonly key: FileKey;
  readonly botId: string;
  /** As the rules give them, before the limits had their say. */
  readonly resolved: ResolvedSettings;
}

/** What a file looked like when it was read for an attempt. */
export interface SentSnapshot {
  readonly fingerprint: Fingerprint;
  readonly trusted: boolean;
  readonly settingsDigest: string;
  readonly sizeBytes: number;
}

/** How one attempt ended. */
export type SendResult =
  | {
      readonly kind: 'sent';
      readonly state: SentSnapshot;
      readonly sha256: Buffer;
      readonly expiresAtMs: number | null;
      /** Address of the content (see `UpsertedFile`): may be a secret. */
      readonly url: string | null;
    }
  | { readonly kind: 'vanished' }
  | { readonly kind: 'unreadable'; readonly reason: string; readonly upserted: boolean }
  /** Not sent, by the limits or the platform's stated rules: it was changed since it was planned. */
  | { readonly kind: 'inadmissible'; readonly reason: string }
  /** Changed while it was read: nothing that could be relied on was sent. */
  | { readonly kind: 'unsettled'; readonly state: SentSnapshot; readonly upserted: boolean }
  /** `upserted`: the platform took the upsert, or may have. */
  | {
      readonly kind: 'failed';
      readonly state: SentSnapshot;
      readonly failure: PlatformFailure;
      readonly upserted: boolean;
    };

/** What sending needs of the rest of the program. */
export interface SendPorts {
  readonly platform: FilePlatform;
  readonly limits: Limits;
  /** Our wall clock, epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Tries once to bring a file to the platform: open, check, upsert, upload. What it reports as sent is what was read and
 * sent. The intent to send has to be on record before: an upsert erases what the platform holds.
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
    return await sendOpenFile(task, admission.resolved, file, state, ports, signal);
  } finally {
    await file.close();
  }
}

async function sendOpenFile(
  task: SendTask,
  { settings }: ResolvedSettings,
  file: SourceFile,
  state: SentSnapshot,
  { platform }: SendPorts,
  signal: AbortSignal,
): Promise<SendResult> {
  let content: HashedContent;
  try {
    content = readContent(file);
  } catch (error) {
    return readFailure(error, state, false);
  }
  const prepare = () => prepareUpsert(task.key, state.sizeBytes, settings, platform.now());
  const failed = (failure: PlatformFailure, upserted: boolean): SendResult => ({
    kind: 'failed',
    state,
    failure,
    upserted,
  });

  let prepared = prepare();
  if (prepared.kind === 'refuse') return { kind: 'inadmissible', reason: prepared.reason };
  let upserted = await platform.upsert(task.botId, prepared.body, signal);
  if (upserted.kind === 'failed' && upserted.failure.kind === 'refused' && prepared.expiresAtMs !== null) {
    // Its answer told the platform's time. If that makes another expiry of it, our clock was to blame.
    const again = prepare();
    if (again.kind === 'refuse') return failed({ kind: 'refused', message: again.reason }, false);
    if (again.expiresAtMs !== prepared.expiresAtMs) {
      prepared = again;
      upserted = await platform.upsert(task.botId, prepared.body, signal);
    }
  }
  if (upserted.kind === 'failed') {
    const { failure } = upserted;
    return failed(failure, failure.kind === 'transient' && failure.notCarriedOut !== true);
  }

  const publicAtOnce = prepared.body.publicContentImmediatelyAccessible === true;
  const uploaded = await platform.upload(upserted.value, content.content, publicAtOnce, signal);
  if (uploaded.kind === 'ok')
    return {
      kind: 'sent',
      state,
      sha256: content.digest(),
      expiresAtMs: prepared.expiresAtMs,
      url: upserted.value.url,
    };
  const readError = content.readError();
  return readError === null ? failed(uploaded.failure, true) : readFailure(readError, state, true);
}

function readFailure(error: unknown, state: SentSnapshot, upserted: boolean): SendResult {
  if (error instanceof ChangedWhileRead) return { kind: 'unsettled', state, upserted };
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return { kind: 'unreadable', reason: `cannot be read: ${code}`, upserted };
}
