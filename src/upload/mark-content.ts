import type { RelativePath } from '../domain/brands.ts';
import type { JsonObject } from '../domain/json.ts';
import { markOf } from '../domain/mark.ts';
import { ChangedWhileRead, readContent, WHOLE_UP_TO_BYTES } from './read-content.ts';
import { openSourceFile, type SourceRoot } from './source-file.ts';

/**
 * The mark that the upsert of a file would carry now. `null`: none, as it is too large to be hashed before, or cannot be
 * read in peace.
 *
 * @param source - the name of its source.
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
    // Nothing is being read any more, so that it is closed at once.
    void file.close();
  }
}
