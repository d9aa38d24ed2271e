import type { RelativePath } from '../domain/brands.ts';
import { fingerprintOf, isTrustworthy, nanoseconds, type Fingerprint } from '../domain/fingerprint.ts';
import { ChangedWhileRead, hashContent } from './read-content.ts';
import { openSourceFile, type SourceRoot } from './source-file.ts';

/** What comparing a file's content with a digest came to. */
export type Comparison =
  | { readonly kind: 'same'; readonly fingerprint: Fingerprint; readonly trusted: boolean }
  /** Another content, or a file that could not be read in peace: sending it will tell. */
  | { readonly kind: 'other' };

/**
 * Whether a file that was touched still has the content that was sent: it is read and hashed, and nothing is sent.
 *
 * @param sha256 - of what was sent.
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
