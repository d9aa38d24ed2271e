import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
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

/**
 * Returns the part of each source that a directory contains, by the name of the source: a path within it, or an empty
 * text for the whole source. The directory need not exist. Empty: no source has anything there.
 */
export function findDirectory(absolute: string, sources: readonly FoundSource[]): Map<string, string> {
  // Through the name itself first: the path of a link in a source is what its files are recorded under.
  const places = [absolute, realPathOf(absolute), resolveLinks(absolute)];
  const parts = new Map<string, string>();
  for (const found of sources)
    for (const directory of places)
      for (const root of rootsOf(found)) {
        const { name } = found.config;
        if (parts.has(name)) continue;
        if (isWithin(directory, root)) parts.set(name, '');
        else if (isWithin(root, directory)) parts.set(name, relative(root, directory));
      }
  return parts;
}

function rootsOf(found: FoundSource): string[] {
  return found.kind === 'found' ? [found.source.root, found.source.realRoot] : [found.config.directory];
}

/** Resolves links in the directory of a path. The last part is kept, because it may be a link or not exist. */
function realPathOf(path: string): string {
  return join(resolveLinks(dirname(path)), basename(path));
}

/** Returns the path unchanged if it does not exist. */
function resolveLinks(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
