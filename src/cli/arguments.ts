import { statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { compilePattern } from '../domain/pattern.ts';
import { readDuration } from '../config/duration.ts';
import { LONGEST_TIMER_MS, readPattern, readTimer } from '../config/values.ts';
import { demand, UsageError } from './usage-error.ts';
import { type LocatedFile, findDirectory, findFile } from '../sync/sources/find-file.ts';
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

/** Returns whether an argument selects a file of a source. `path` is relative to the source, as it is on disk. */
export type Selection = (file: { readonly source: string; readonly path: string }) => boolean;

/**
 * Reads an argument that selects files: a directory, with everything below it, or a pattern. Throws `UsageError`.
 *
 * @param place - the name of the argument, for the message.
 */
export function readSelection(place: string, text: string, sources: readonly FoundSource[]): Selection {
  const parts = findDirectory(resolve(text), sources);
  if (parts.size > 0 && (isDirectory(text) || isPath(text))) return below(parts);
  if (isDirectory(text)) {
    const asPattern = isPath(text) ? '' : `; if it is a pattern, write "**/${text}"`;
    throw new UsageError(
      `${text} is not in any source${asPattern}; the sources are:\n${directoriesOf(sources)}`,
    );
  }
  const matches = readGlob(place, text);
  return ({ path }) => matches(path);
}

/** Returns whether a path, relative to the working directory, leads to a directory. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // A long pattern is no valid name.
    return false;
  }
}

/** Returns whether a text means a path even if nothing is there: a pattern would match nothing, or starts at the source. */
function isPath(text: string): boolean {
  return isAbsolute(text) || /^\.{1,2}\/|\/$/u.test(text);
}

function below(parts: ReadonlyMap<string, string>): Selection {
  return ({ source, path }) => {
    const part = parts.get(source)?.normalize('NFC');
    const own = path.normalize('NFC');
    return part !== undefined && (part === '' || own === part || own.startsWith(`${part}/`));
  };
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
  throw new UsageError(`${written} is not in any source; the sources are:\n${directoriesOf(sources)}`);
}

function directoriesOf(sources: readonly FoundSource[]): string {
  return sources.map(({ config }) => `  ${config.name}: ${config.directory}`).join('\n');
}
