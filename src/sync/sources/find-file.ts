import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type RelativePath, isWithin } from '../../domain/key.ts';
import type { FoundSource } from './source.ts';

/** A file that a user named: its source, and its path within the source. */
export interface LocatedFile {
  readonly found: FoundSource;
  readonly path: RelativePath;
}

/**
 * Returns the source whose directory contains a file, and the path within it; the innermost of nested ones. The
 * directory need not exist. `null`: no source contains it.
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

function rootsOf(found: FoundSource): string[] {
  return found.kind === 'found' ? [found.source.root, found.source.realRoot] : [found.config.directory];
}

/** Resolves links in the directory of a path. The last part is kept, because it may be a link or not exist. */
function realPathOf(path: string): string {
  try {
    return join(realpathSync.native(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
