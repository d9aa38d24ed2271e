import type { FileKey, RelativePath } from '../domain/brands.ts';
import type { PlatformFailure } from '../domain/failure.ts';
import type { FilePlatform } from '../domain/file-platform.ts';
import { fingerprintOf, isTrustworthy, type Fingerprint } from '../domain/fingerprint.ts';
import { admit, prepareUpsert, type Limits, type UpsertBody } from '../domain/limits.ts';
import type { ResolvedSettings } from '../domain/rules.ts';
import { ChangedWhileRead, hashContent, readContent, type HashedContent } from './read-content.ts';
import { openSourceFile, type SourceFile, type SourceRoot } from './source-file.ts';

/** A file that may have to be sent. */
export interface SendTask {
  readonly root: SourceRoot;
  readonly path: RelativePath;
  readonly key: FileKey;
  readonly botId: string;
  /** As the rules give them, before the limits had their say. */
  readonly resolved: ResolvedSettings;
  /** The digest of the content that the platform holds: when the file still has it, nothing is sent. `null`: send. */
  readonly unlessSha256: Buffer | null;
}

/** What a file looked like when it was read for an attempt. */
export interface ReadState {
  readonly fingerprint: Fingerprint;
  readonly trusted: boolean;
  readonly settingsDigest: string;
  readonly sizeBytes: number;
}

/** How one attempt ended. */
export type SendResult =
  | {
      readonly kind: 'sent';
      readonly state: ReadState;
      readonly sha256: Buffer;
      readonly expiresAtMs: number | null;
    }
  /** The content is the one the platform holds. */
  | { readonly kind: 'same'; readonly state: ReadState }
  | { readonly kind: 'vanished' }
  | { readonly kind: 'unreadable'; readonly reason: string }
  /** Not sent, by the limits or the platform's stated rules. */
  | { readonly kind: 'refused-here'; readonly reason: string }
  | { readonly kind: 'skipped'; readonly reason: string }
  | { readonly kind: 'held-back' }
  /** Changed while it was read: nothing that could be relied on was sent. `upserted` as below. */
  | { readonly kind: 'unsettled'; readonly state: ReadState; readonly upserted: boolean }
  /** `upserted`: the platform took the upsert, or may have. */
  | {
      readonly kind: 'failed';
      readonly state: ReadState;
      readonly failure: PlatformFailure;
      readonly upserted: boolean;
    };

/** What sending needs of the rest of the program. */
export interface SendPorts {
  readonly platform: FilePlatform;
  readonly limits: Limits;
  /** Our wall clock, epoch milliseconds. */
  readonly now: () => number;
  /** Makes the intent to send durable; the upsert waits for it. `false`: it is not to be sent now after all. */
  readonly beginSending: (state: ReadState) => Promise<boolean>;
}

/** Tries once to bring a file to the platform: open, check, upsert, upload. What it reports as sent is what was read and sent. */
export async function sendFile(task: SendTask, ports: SendPorts, signal: AbortSignal): Promise<SendResult> {
  const readingBeganNs = BigInt(Math.floor(ports.now())) * 1_000_000n;
  const opened = openSourceFile(task.root, task.path);
  if (opened.kind !== 'open') return opened;
  const { file } = opened;
  try {
    const admission = admit(task.resolved, file.sizeBytes, ports.limits);
    if (admission.kind === 'refuse') return { kind: 'refused-here', reason: admission.reason };
    if (admission.kind === 'skip') return { kind: 'skipped', reason: admission.reason };
    const state: ReadState = {
      fingerprint: fingerprintOf(file.facts),
      trusted: isTrustworthy(file.facts, readingBeganNs),
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
  resolved: ResolvedSettings,
  file: SourceFile,
  state: ReadState,
  ports: SendPorts,
  signal: AbortSignal,
): Promise<SendResult> {
  let content: HashedContent;
  try {
    if (task.unlessSha256 !== null && (await hashContent(file)).equals(task.unlessSha256))
      return { kind: 'same', state };
    content = readContent(file);
  } catch (error) {
    return readFailure(error, state, false);
  }
  const prepared = prepareUpsert(task.key, state.sizeBytes, resolved.settings, ports.platform.now());
  if (prepared.kind === 'refuse') return { kind: 'refused-here', reason: prepared.reason };
  if (!(await ports.beginSending(state))) return { kind: 'held-back' };
  const { platform } = ports;
  const failed = (failure: PlatformFailure, upserted: boolean): SendResult => ({
    kind: 'failed',
    state,
    failure,
    upserted,
  });

  let { body, expiresAtMs } = prepared;
  let upserted = await platform.upsert(task.botId, body, signal);
  if (upserted.kind === 'failed' && upserted.failure.kind === 'refused' && expiresAtMs !== null) {
    // Its answer told the platform's time. If that makes another expiry of it, our clock was to blame.
    const again = prepareUpsert(task.key, state.sizeBytes, resolved.settings, platform.now());
    if (again.kind === 'refuse') return failed({ kind: 'refused', message: again.reason }, false);
    if (again.expiresAtMs !== expiresAtMs) {
      ({ body, expiresAtMs } = again);
      upserted = await platform.upsert(task.botId, body, signal);
    }
  }
  if (upserted.kind === 'failed') return failed(upserted.failure, upserted.failure.kind === 'transient');

  const uploaded = await platform.upload(upserted.value, content.content, isPublicAtOnce(body), signal);
  if (uploaded.kind === 'ok') return { kind: 'sent', state, sha256: content.digest(), expiresAtMs };
  const readError = content.readError();
  return readError === null ? failed(uploaded.failure, true) : readFailure(readError, state, true);
}

function isPublicAtOnce(body: UpsertBody): boolean {
  return body.publicContentImmediatelyAccessible === true;
}

function readFailure(error: unknown, state: ReadState, upserted: boolean): SendResult {
  if (error instanceof ChangedWhileRead) return { kind: 'unsettled', state, upserted };
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return { kind: 'unreadable', reason: `cannot be read: ${code}` };
}
