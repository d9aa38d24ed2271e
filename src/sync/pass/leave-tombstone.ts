import type { FileKey } from '../../domain/brands.ts';
import { removalExpiry } from '../../domain/expiry.ts';
import type { PreparedUpsert, UpsertBody } from '../../domain/limits.ts';
import { sendContent } from '../../upload/send-content.ts';
import type { RemovalAttempt } from './removal-attempt.ts';
import type { WalkContext } from './sync-context.ts';

/** Puts an empty file that expires in two minutes under a key. Its intent must be on disk. */
export async function leaveTombstone(
  botId: string,
  key: FileKey,
  { platform, abort }: Pick<WalkContext, 'platform' | 'abort'>,
): Promise<RemovalAttempt> {
  let expiresAtMs = 0;
  const prepare = (): PreparedUpsert => {
    expiresAtMs = removalExpiry(platform.now());
    return { kind: 'ready', body: emptyFile(key, expiresAtMs), expiresAtMs };
  };
  const nothing = { kind: 'whole', bytes: Buffer.alloc(0) } as const;
  const ended = await sendContent(platform, botId, prepare, nothing, abort);
  return ended.kind === 'failed'
    ? { kind: 'failed', failure: ended.failure }
    : { kind: 'expires', expiresAtMs };
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
