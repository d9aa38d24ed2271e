import type { RelativePath } from '../domain/key.ts';
import { fingerprintOf, isTrustworthy, nanoseconds, type Fingerprint } from '../domain/fingerprint.ts';
import { markOf } from '../domain/mark.ts';
import type { JsonObject } from '../domain/json.ts';
import { ChangedWhileRead, hashContent, WHOLE_UP_TO_BYTES, readContent } from './read-content.ts';
import { openSourceFile, type SourceRoot } from './source-file.ts';

export type Comparison =
  | { readonly kind: 'same'; readonly fingerprint: Fingerprint; readonly trusted: boolean }
  /** The content differs, or the file could not be read completely; sending it will find out. */
  | { readonly kind: 'other' };

/**
 * Compares the content of a file with what was sent, by reading and hashing the file.
 *
 * @param sha256 - of the content that was sent.
 * @param nowMs - our wall clock, epoch milliseconds.
 */
export async function compareContent(
  root: SourceRoot,
  path: RelativePath,
  sha256: Buffer,
  nowMs: number,
): Promise<Comparison> {
  const opened = openSourceFile(root, path);
  if (opened.kind !== 'open') return { kind: 'other' };
  const { file } = opened;
  try {
    if (!(await hashContent(file)).equals(sha256)) return { kind: 'other' };
    return {
      kind: 'same',
      fingerprint: fingerprintOf(file.facts),
      trusted: isTrustworthy(file.facts, nanoseconds(nowMs)),
    };
  } catch (error) {
    if (error instanceof ChangedWhileRead || (error as NodeJS.ErrnoException).code !== undefined)
      return { kind: 'other' };
    throw error;
  } finally {
    await file.close();
  }
}

/**
 * Returns the mark that an upsert of the file would carry now; `null` if the file is too large to be hashed before it
 * is sent, or could not be read.
 *
 * @param source - name of the file's source.
 */
export function markOfFile(root: SourceRoot, path: RelativePath, source: string): JsonObject | null {
  const opened = openSourceFile(root, path);
  if (opened.kind !== 'open') return null;
  const { file } = opened;
  try {
    return file.sizeBytes > WHOLE_UP_TO_BYTES ? null : markOf(readContent(file).digest(), source);
  } catch (error) {
    if (error instanceof ChangedWhileRead || (error as NodeJS.ErrnoException).code !== undefined) return null;
    throw error;
  } finally {
    // No read is in progress, so the file is closed synchronously.
    void file.close();
  }
}
