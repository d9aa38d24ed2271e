import { resolve } from 'node:path';
import { compilePattern } from '../domain/pattern.ts';
import { readDuration } from '../config/duration.ts';
import { LONGEST_TIMER_MS, readPattern, readTimer } from '../config/values.ts';
import { demand, UsageError } from './usage-error.ts';
import { type LocatedFile, findFile } from '../sync/sources/find-file.ts';
import type { FoundSource } from '../sync/sources/source.ts';

/** Parses repeated `--tag NAME=VALUE`. Throws `UsageError`. */
export function readTags(written: readonly string[]): Record<string, string> {
  const tags = new Map<string, string>();
  for (const text of written) {
    const at = text.indexOf('=');
    if (at < 1) throw new UsageError(`--tag ${text}: write NAME=VALUE`);
    const name = text.slice(0, at);
    if (tags.has(name)) throw new UsageError(`--tag ${name} is given twice`);
    tags.set(name, text.slice(at + 1));
  }
  return Object.fromEntries(tags);
}

/**
 * Returns a predicate for paths as they are on disk. Throws `UsageError`.
 *
 * @param place - the name of the option or argument, for the message.
 */
export function readGlob(place: string, text: string): (path: string) => boolean {
  const matches = compilePattern(demand(place, readPattern(text)));
  return (path) => matches(path.normalize('NFC'));
}

/** Reads a duration in milliseconds, by default one that a timer can wait for. Throws `UsageError`. */
export function readWait(option: string, text: string, leastMs = 1, mostMs = LONGEST_TIMER_MS): number {
  return demand(option, readTimer(demand(option, readDuration(text, mostMs, leastMs)), leastMs, mostMs));
}

/** Finds the file that an argument names. Throws `UsageError`. */
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
