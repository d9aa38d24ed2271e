import { resolve } from 'node:path';
import { findFile, type LocatedFile } from '../sync/sources/find-file.ts';
import type { FoundSource } from '../sync/sources/source.ts';
import { UsageError } from './usage-error.ts';

/** The file that is named on the command line. Throws `UsageError`. */
export function locateFile(written: string, sources: readonly FoundSource[]): LocatedFile {
  const absolute = resolve(written);
  const located = findFile(absolute, sources);
  if (located !== null) return located;
  const isSource = sources.some(({ config }) => config.directory === absolute);
  if (written === '' || isSource)
    throw new UsageError(
      `${written === '' ? 'an empty path' : written} is not a file of a source; name a file in a source`,
    );
  const directories = sources.map(({ config }) => `  ${config.name}: ${config.directory}`).join('\n');
  throw new UsageError(`${written} is not in any source; the sources are:\n${directories}`);
}
