import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { RelativePath } from '../../domain/key.ts';
import { isWithin } from '../../domain/path-order.ts';
import type { FoundSource } from './source.ts';

/** A file that somebody named: the source that it lies in, and its path within that. */
export interface LocatedFile {
  readonly found: FoundSource;
  readonly path: RelativePath;
}

/**
 * The source whose directory holds a file, and the path within it; the innermost where one lies in another. The directory
 * itself need not be there. `null`: none does.
 */
export function findFile(absolute: string, sources: readonly FoundSource[]): LocatedFile | null {
  const candidates = sources
    .flatMap((found) =>
      [absolute, realPathOf(absolute)]
        .flatMap((file) => rootsOf(found).map((root) => ({ file, root })))
        .filter(({ file, root }) => file !== root && isWithin(root, file))
        .map(({ file, root }) => ({
          found,
          path: file.slice(root.endsWith('/') ? root.length : root.length + 1) as RelativePath,
        })),
    )
    .sort((a, b) => a.path.length - b.path.length);
  return candidates[0] ?? null;
}

/** The names of a source's directory. */
function rootsOf(found: FoundSource): string[] {
  return found.kind === 'found' ? [found.source.root, found.source.realRoot] : [found.config.directory];
}

/** With links in its directory resolved; the last part stays, as it may be a link or not be there. */
function realPathOf(path: string): string {
  try {
    return join(realpathSync.native(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
