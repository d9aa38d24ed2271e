import { removalExpiry } from '../../domain/expiry.ts';
import {
  failed,
  ok,
  type OptionalFailure,
  type Outcome,
  type PlatformFailure,
} from '../../domain/failure.ts';
import type { CatalogFile } from '../../domain/file-catalog.ts';
import { sizeInFingerprint } from '../../domain/fingerprint.ts';
import type { PreparedUpsert, UpsertBody } from '../../domain/limits.ts';
import type { FileKey } from '../../domain/key.ts';
import type { ReplacementSign } from '../../domain/obstacle.ts';
import { ownershipOf, type PutFile } from '../../domain/put-file.ts';
import type { RowId } from '../../store/file-reader.ts';
import type { StateReader } from '../../store/state-reader.ts';
import type { BotAtTarget, ServedCatalog } from '../catalog/served-catalog.ts';
import { sendContent } from './send-content.ts';
import type { SyncContext, WalkContext } from './sync-context.ts';

/** The platform does not serve an operation that deleting needs. `isOurs`: the file was found to be the one we sent. */
interface NotServed {
  readonly kind: 'not-served';
  readonly isOurs: boolean;
}

/**
 * Returns the catalog that deletes files at a target; `null`: they are left, or expire.
 *
 * @param isAsked - a user wants the file removed whatever the mode: then it must at least be checked.
 */
export function deletingCatalog(
  target: number,
  isAsked: boolean,
  { config, catalog }: SyncContext,
): ServedCatalog | null {
  if (catalog?.serves(target, 'get') !== true) return null;
  return isAsked || (config.removals.mode === 'delete' && catalog.serves(target, 'delete')) ? catalog : null;
}

/**
 * Deletes a file if it is still the one we sent. The intent must be recorded before. A file that somebody else puts
 * there between the check and the deletion is deleted too: the platform offers no conditional deletion.
 */
export async function deleteFile(
  catalog: ServedCatalog,
  at: BotAtTarget,
  put: PutFile,
  { abort }: WalkContext,
): Promise<RemovalAttempt | NotServed> {
  const looked = await look(catalog, at, put, abort);
  if (looked.kind === 'failed') return failureOf(looked.failure, false);
  if (looked.value === null) return { kind: 'gone' };
  const ownership = ownershipOf(looked.value, put);
  switch (ownership.kind) {
    case 'replaced':
      return ownership;
    case 'untold': {
      const message = 'the platform has not received the whole file yet';
      return { kind: 'failed', failure: { kind: 'transient', message, answered: true } };
    }
    case 'ours': {
      const deleted = await catalog.delete(at, looked.value.id, abort);
      return deleted.kind === 'ok' ? { kind: 'gone' } : failureOf(deleted.failure, true);
    }
  }
}

/** Returns what the record says about a file to delete. The record must exist. */
export function putFileOf(id: RowId, source: string, state: Pick<StateReader, 'find'>): PutFile {
  const stored = state.find(id);
  if (stored === null) throw new Error(`${id.key} has no record`);
  return {
    key: id.key,
    source,
    remoteId: stored.remoteId,
    sha256: stored.sha256,
    sizeBytes: sizeInFingerprint(stored.fingerprint),
    triedBytes: stored.sizeBytes,
    isMarked: stored.isMarked,
  };
}

/** Looks a file up by its id, then by its key. `null`: not found. */
async function look(
  catalog: ServedCatalog,
  at: BotAtTarget,
  { key, remoteId }: PutFile,
  signal: AbortSignal,
): Promise<Outcome<CatalogFile | null, OptionalFailure>> {
  // An upsert that was not recorded, or somebody else's, may have given the key another file.
  const names = remoteId === null ? [key] : [remoteId, key];
  for (const name of names) {
    const looked = await catalog.get(at, name, signal);
    if (looked.kind === 'ok' || looked.failure.kind !== 'not-found')
      return looked.kind === 'ok' ? looked : failed(looked.failure);
  }
  return ok(null);
}

function failureOf(failure: OptionalFailure, isOurs: boolean): RemovalAttempt | NotServed {
  switch (failure.kind) {
    case 'not-found':
      return { kind: 'gone' };
    case 'not-served':
    // The upsert that lets the file expire shows whether the credentials are refused.
    case 'credentials':
      return { kind: 'not-served', isOurs };
    case 'quota':
    case 'refused':
    case 'transient':
      return { kind: 'failed', failure };
  }
}

/** Replaces a file by an empty one that expires in two minutes. The intent must be recorded before. */
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

/**
 * The result of an attempt to remove a file from the platform:
 * - `expires`: an empty file replaces it until then, epoch milliseconds.
 * - `gone`: nothing of it is there.
 * - `replaced`: somebody else's file is there, which is left alone.
 * - `unchecked`: the platform does not show whose file it is, and it may be removed only if it is ours.
 */
export type RemovalAttempt =
  | { readonly kind: 'expires'; readonly expiresAtMs: number }
  | { readonly kind: 'gone' }
  | { readonly kind: 'replaced'; readonly sign: ReplacementSign }
  | { readonly kind: 'unchecked' }
  | { readonly kind: 'failed'; readonly failure: PlatformFailure };
