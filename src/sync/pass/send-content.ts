import type { PlatformFailure } from '../../domain/failure.ts';
import type { FilePlatform, OutgoingContent } from '../../domain/file-catalog.ts';
import type { PreparedUpsert } from '../../domain/limits.ts';
import type { FileRefusal } from '../../domain/obstacle.ts';
import { describeObstacle } from '../../words/obstacle.ts';

export type ContentSent =
  | {
      readonly kind: 'sent';
      /** As requested, epoch milliseconds; `null`: never expires. */
      readonly expiresAtMs: number | null;
      /** The platform's id of the file; `null`: not reported. */
      readonly remoteId: string | null;
      /** See `UpsertedFile`: may be a secret. */
      readonly url: string | null;
    }
  /** Not sent, because of the platform's stated rules. */
  | { readonly kind: 'refuse'; readonly reason: FileRefusal }
  /** `upserted`: the platform carried out the upsert, or may have. */
  | { readonly kind: 'failed'; readonly failure: PlatformFailure; readonly upserted: boolean };

/**
 * Upserts a file and uploads its content, once.
 *
 * @param prepare - makes the upsert from the platform's time as known now.
 */
export async function sendContent(
  platform: FilePlatform,
  botId: string,
  prepare: () => PreparedUpsert,
  content: OutgoingContent,
  signal: AbortSignal,
): Promise<ContentSent> {
  let prepared = prepare();
  if (prepared.kind === 'refuse') return prepared;
  let upserted = await platform.upsert(botId, prepared.body, signal);
  if (upserted.kind === 'failed' && upserted.failure.kind === 'refused' && prepared.expiresAtMs !== null) {
    // The answer contained the platform's time. If the expiry differs with it, our clock caused the refusal.
    const again = prepare();
    if (again.kind === 'refuse')
      return failed({ kind: 'refused', message: describeObstacle(again.reason) }, false);
    if (again.expiresAtMs !== prepared.expiresAtMs) {
      prepared = again;
      upserted = await platform.upsert(botId, prepared.body, signal);
    }
  }
  if (upserted.kind === 'failed') {
    const { failure } = upserted;
    return failed(failure, failure.kind === 'transient' && failure.notCarriedOut !== true);
  }
  const { value: file } = upserted;
  const publicAtOnce = prepared.body.publicContentImmediatelyAccessible === true;
  const uploaded = await platform.upload(file, content, publicAtOnce, signal);
  if (uploaded.kind === 'failed') return failed(uploaded.failure, true);
  return { kind: 'sent', expiresAtMs: prepared.expiresAtMs, remoteId: file.id, url: file.url };
}

function failed(failure: PlatformFailure, upserted: boolean): ContentSent {
  return { kind: 'failed', failure, upserted };
}
