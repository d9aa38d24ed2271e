import { failed, ok, type OptionalFailure, type Outcome } from '../../domain/failure.ts';
import type { CatalogFile } from '../../domain/file-catalog.ts';
import { sizeInFingerprint } from '../../domain/fingerprint.ts';
import { ownershipOf, type PutFile } from '../../domain/put-file.ts';
import type { RowId, StateReader } from '../../state/state-reader.ts';
import type { BotAtTarget, ServedCatalog } from '../catalog/served-catalog.ts';
import type { RemovalAttempt } from './removal-attempt.ts';
import type { SyncContext, WalkContext } from './sync-context.ts';

/** What the platform does not serve, so that a file cannot be deleted. */
interface NotServed {
  readonly kind: 'not-served';
}

/** What files at a target are deleted by; `null`: they are not, but left, or let expire. */
export function deletingCatalog(target: number, { config, catalog }: SyncContext): ServedCatalog | null {
  if (config.removals.mode !== 'delete' || catalog === null) return null;
  return catalog.serves(target, 'get') && catalog.serves(target, 'delete') ? catalog : null;
}

/**
 * Deletes a file if it is still what was put there. Its intent must be on disk. What somebody puts in its place between
 * the look and the deletion goes with it: the platform cannot be asked to delete a file only as it was seen.
 */
export async function deleteFile(
  catalog: ServedCatalog,
  at: BotAtTarget,
  put: PutFile,
  { abort }: WalkContext,
): Promise<RemovalAttempt | NotServed> {
  const looked = await look(catalog, at, put, abort);
  if (looked.kind === 'failed') return failureOf(looked.failure);
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
      return deleted.kind === 'ok' ? { kind: 'gone' } : failureOf(deleted.failure);
    }
  }
}

/** What is on record of a file that is to be deleted. It must have a record. */
export function putFileOf(id: RowId, source: string, state: Pick<StateReader, 'find' | 'remote'>): PutFile {
  const stored = state.find(id);
  const remote = state.remote.find(id);
  if (stored === null || remote === null) throw new Error(`${id.key} has no record`);
  return {
    key: id.key,
    source,
    remoteId: remote.remoteId,
    sha256: stored.sha256,
    sizeBytes: sizeInFingerprint(stored.fingerprint),
    triedBytes: remote.sizeBytes,
    isMarked: remote.isMarked,
  };
}

/** Looks a file up by its id, and by its key where the id is not known or leads nowhere. `null`: there is none. */
async function look(
  catalog: ServedCatalog,
  at: BotAtTarget,
  { key, remoteId }: PutFile,
  signal: AbortSignal,
): Promise<Outcome<CatalogFile | null, OptionalFailure>> {
  // An upsert that was not recorded, or somebody else's, may have given the key to a file of another id.
  const names = remoteId === null ? [key] : [remoteId, key];
  for (const name of names) {
    const looked = await catalog.get(at, name, signal);
    if (looked.kind === 'ok' || looked.failure.kind !== 'not-found')
      return looked.kind === 'ok' ? looked : failed(looked.failure);
  }
  return ok(null);
}

function failureOf(failure: OptionalFailure): RemovalAttempt | NotServed {
  switch (failure.kind) {
    case 'not-found':
      return { kind: 'gone' };
    case 'not-served':
    // The upsert that lets the file expire decides whether the credentials are refused.
    case 'credentials':
      return { kind: 'not-served' };
    case 'quota':
    case 'refused':
    case 'transient':
      return { kind: 'failed', failure };
  }
}
