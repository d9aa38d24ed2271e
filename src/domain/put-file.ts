import type { FileKey } from './key.ts';
import type { CatalogFile } from './file-catalog.ts';
import { readMark } from './mark.ts';

/** What is on record of a file that was put on the platform, as far as it tells whether it is still that one. */
export interface PutFile {
  readonly key: FileKey;
  readonly source: string;
  /** The platform's id of the file; `null`: it was not told. */
  readonly remoteId: string | null;
  /** Of the bytes the platform holds; `null`: an attempt that was not recorded may have left something else of ours. */
  readonly sha256: Buffer | null;
  readonly sizeBytes: number;
  /** Of the content that an attempt was begun with since, if there was one. */
  readonly triedBytes: number;
  /** Whether the mark of this content was set. */
  readonly isMarked: boolean;
}

/**
 * Whether what the platform has is what was put there:
 * - `ours`: it is.
 * - `untold`: the platform has not taken all of it yet, or of another in its place, which cannot be told apart.
 * - `replaced`: somebody put another file there; `reason` says what shows it, for people.
 */
export type Ownership =
  | { readonly kind: 'ours' }
  | { readonly kind: 'untold' }
  | { readonly kind: 'replaced'; readonly reason: string };

const OURS: Ownership = { kind: 'ours' };

/**
 * Decides it by the id and the mark, and by the size where there is no mark. After an attempt that was not recorded an id
 * tells nothing, as an upsert may have given it another one; then a mark of the same source will do.
 */
export function ownershipOf(found: CatalogFile, put: PutFile): Ownership {
  // A key may look like the id of another file.
  if (found.key !== put.key) return replaced('it has another key');
  return put.sha256 === null ? ownershipInDoubt(found, put) : ownershipByContent(found, put, put.sha256);
}

function ownershipByContent(found: CatalogFile, put: PutFile, sha256: Buffer): Ownership {
  if (put.remoteId !== null && found.id !== put.remoteId) return replaced('it has another id');
  const mark = readMark(found.metadata);
  if (mark !== null)
    return mark.sha256 === sha256.toString('hex') ? OURS : replaced('its mark names another content');
  if (put.isMarked) return replaced('it has no mark');
  if (found.sizeBytes === null) return found.status === 'upload_failed' ? OURS : { kind: 'untold' };
  return found.sizeBytes === put.sizeBytes ? OURS : otherSize(found.sizeBytes, put.sizeBytes);
}

function ownershipInDoubt({ metadata, sizeBytes }: CatalogFile, put: PutFile): Ownership {
  const mark = readMark(metadata);
  if (mark !== null) return mark.source === put.source ? OURS : replaced('its mark names another source');
  // Without content it is an upsert of ours that got no further, or what an earlier attempt to remove it left.
  if (sizeBytes === null || [0, put.sizeBytes, put.triedBytes].includes(sizeBytes)) return OURS;
  return otherSize(sizeBytes, put.triedBytes);
}

function otherSize(foundBytes: number, putBytes: number): Ownership {
  return replaced(`it has ${foundBytes} bytes instead of ${putBytes}`);
}

function replaced(reason: string): Ownership {
  return { kind: 'replaced', reason };
}
