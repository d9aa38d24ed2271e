import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { RelativePath } from '../domain/brands.ts';
import { isWithin } from '../domain/within.ts';
import type { FoundSource, Source } from '../sync/sources/source.ts';
import { UsageError } from './usage-error.ts';

/** The source whose directory holds a path, and the path within it; the innermost where one lies in another. Throws `UsageError`. */
export function locateFile(
  written: string,
  sources: readonly FoundSource[],
): { source: Source; path: RelativePath } {
  const absolute = resolve(written);
  const candidates = sources
    .flatMap((one) => (one.kind === 'found' ? [one.source] : []))
    .flatMap((source) =>
      [absolute, realPathOf(absolute)]
        .flatMap((file) => [source.root, source.realRoot].map((root) => ({ file, root })))
        .filter(({ file, root }) => file !== root && isWithin(root, file))
        .map(({ file, root }) => ({
          source,
          path: file.slice(root.endsWith('/') ? root.length : root.length + 1) as RelativePath,
        })),
    )
    .sort((a, b) => a.path.length - b.path.length);
  const [found] = candidates;
  if (found !== undefined) return found;
  const isSource = sources.some(({ config }) => config.directory === absolute);
  if (written === '' || isSource)
    throw new UsageError(
      `${written === '' ? 'an empty path' : written} is no file of a source; name one in it`,
    );
  const directories = sources.map(({ config }) => `  ${config.name}: ${config.directory}`).join('\n');
  throw new UsageError(`${written} lies in no source; the sources are:\n${directories}`);
}

/** With links in its directory resolved; the last part stays, as it may be a link or not be there. */
function realPathOf(path: string): string {
  try {
    return join(realpathSync.native(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
