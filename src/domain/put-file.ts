import type { FileKey } from './key.ts';
import type { CatalogFile } from './file-catalog.ts';
import { readMark } from './mark.ts';
import type { ReplacementSign } from './obstacle.ts';

/** The part of a record that shows whether the platform still has the file that botsync put there. */
export interface PutFile {
  readonly key: FileKey;
  readonly source: string;
  /** `null`: unknown. */
  readonly remoteId: string | null;
  /** Of the content on the platform; `null`: an attempt that was not recorded may have left other content of botsync's. */
  readonly sha256: Buffer | null;
  readonly sizeBytes: number;
  /** Size of the content of the last attempt, which may not have succeeded. */
  readonly triedBytes: number;
  readonly isMarked: boolean;
}

/**
 * The owner of the platform's file under a key:
 * - `ours`: botsync put it there.
 * - `untold`: unknown, because the platform has not received all of this or another content yet.
 * - `replaced`: somebody put another file there.
 */
export type Ownership =
  | { readonly kind: 'ours' }
  | { readonly kind: 'untold' }
  | { readonly kind: 'replaced'; readonly sign: ReplacementSign };

const OURS: Ownership = { kind: 'ours' };

/**
 * Determines the owner of a file by its id and mark, and by its size where there is no mark. After an attempt that was not
 * recorded the id proves nothing, because an upsert may have changed it; then a mark of the same source is enough.
 */
export function ownershipOf(found: CatalogFile, put: PutFile): Ownership {
  // The key of one file may look like the id of another.
  if (found.key !== put.key) return replaced({ kind: 'other-key' });
  return put.sha256 === null ? ownershipInDoubt(found, put) : ownershipByContent(found, put, put.sha256);
}

function ownershipByContent(found: CatalogFile, put: PutFile, sha256: Buffer): Ownership {
  if (put.remoteId !== null && found.id !== put.remoteId) return replaced({ kind: 'other-id' });
  const mark = readMark(found.metadata);
  if (mark !== null)
    return mark.sha256 === sha256.toString('hex') ? OURS : replaced({ kind: 'mark-of-other-content' });
  if (put.isMarked) return replaced({ kind: 'no-mark' });
  if (found.sizeBytes === null) return found.status === 'upload_failed' ? OURS : { kind: 'untold' };
  return found.sizeBytes === put.sizeBytes ? OURS : otherSize(found.sizeBytes, put.sizeBytes);
}

function ownershipInDoubt({ metadata, sizeBytes }: CatalogFile, put: PutFile): Ownership {
  const mark = readMark(metadata);
  if (mark !== null) return mark.source === put.source ? OURS : replaced({ kind: 'mark-of-other-source' });
  // No content: left by an unfinished upsert of botsync's, or by an earlier attempt to remove the file.
  if (sizeBytes === null || [0, put.sizeBytes, put.triedBytes].includes(sizeBytes)) return OURS;
  return otherSize(sizeBytes, put.triedBytes);
}

function otherSize(foundBytes: number, sentBytes: number): Ownership {
  return replaced({ kind: 'other-size', foundBytes, sentBytes });
}

function replaced(sign: ReplacementSign): Ownership {
  return { kind: 'replaced', sign };
}
