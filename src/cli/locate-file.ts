import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { RelativePath } from '../domain/brands.ts';
import { isWithin } from '../domain/within.ts';
import type { FoundSource } from '../sync/sources/source.ts';
import { UsageError } from './usage-error.ts';

/** A file that is named on the command line: the source that it lies in, and its path within that. */
export interface LocatedFile {
  readonly found: FoundSource;
  readonly path: RelativePath;
}

/**
 * The source whose directory holds a path, and the path within it; the innermost where one lies in another. The directory
 * itself need not be there. Throws `UsageError`.
 */
export function locateFile(written: string, sources: readonly FoundSource[]): LocatedFile {
  const absolute = resolve(written);
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
  const [located] = candidates;
  if (located !== undefined) return located;
  const isSource = sources.some(({ config }) => config.directory === absolute);
  if (written === '' || isSource)
    throw new UsageError(
      `${written === '' ? 'an empty path' : written} is not a file of a source; name a file in a source`,
    );
  const directories = sources.map(({ config }) => `  ${config.name}: ${config.directory}`).join('\n');
  throw new UsageError(`${written} is not in any source; the sources are:\n${directories}`);
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
