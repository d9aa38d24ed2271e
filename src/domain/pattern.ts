import picomatch from 'picomatch';
import { linearMatcher, UnsupportedSyntax } from './linear-match.ts';

/** An invalid pattern. The message continues a sentence that begins with the pattern. */
export class PatternError extends Error {}

/** picomatch translates any pattern of this length quickly. */
const LONGEST_PATTERN = 1000;

/**
 * Compiles a pattern of the config to a predicate: picomatch with `dot: true`, case-sensitive, against an NFC path relative to
 * the source. A pattern without `/` matches the name at any depth, as in .gitignore. The predicate's time is linear in the length
 * of the path, for any pattern: anybody who can write to a source chooses the names.
 *
 * @throws `PatternError`
 */
export function compilePattern(pattern: string): (path: string) => boolean {
  const normal = pattern.normalize('NFC');
  if (normal === '**' || normal === '*') return () => true;
  if (normal.length > LONGEST_PATTERN)
    throw new PatternError(`is longer than ${LONGEST_PATTERN} characters; write several patterns`);
  const glob = normal.includes('/') ? normal.replace(/^\//u, '') : `**/${normal}`;
  const matches = linearMatcherOf(glob);
  // As in picomatch: a path equal to the pattern matches.
  return (path) => path === glob || matches(path);
}

function linearMatcherOf(glob: string): (path: string) => boolean {
  try {
    // With `debug` picomatch throws; without it a broken pattern silently matches nothing. Flag s: a name may contain a line
    // feed.
    return linearMatcher(picomatch.makeRe(glob, { dot: true, flags: 's', debug: true }).source);
  } catch (error) {
    if (error instanceof UnsupportedSyntax)
      throw new PatternError(
        `contains ${JSON.stringify(error.part)}, which patterns cannot contain; a backslash escapes the next character, and directories are separated by "/"`,
      );
    throw new PatternError(
      'is not a pattern: a bracket is open or a range is reversed; put "\\\\" before a bracket that is meant literally',
    );
  }
}

/** More take minutes for some paths: the time grows with the depth of a path to the power of their number. */
const MOST_CROSSINGS = 2;

/**
 * Returns why a line in .gitignore syntax cannot be used; `null`: it can. The text continues a sentence that begins with the
 * line.
 */
export function problemOfIgnorePattern(line: string): string | null {
  const crossings = line.startsWith('#') ? [] : line.match(/(?:^|\/)\*{2,}(?=\/)/gu);
  return (crossings?.length ?? 0) > MOST_CROSSINGS
    ? `crosses directories more than ${MOST_CROSSINGS} times, which takes minutes for some paths; leave out a "**/", or write several patterns`
    : null;
}

export interface PatternPlace {
  readonly name: string;
  /** Absolute. */
  readonly directory: string;
  readonly keyPrefix: string;
  /** Returns whether a directory exists at a path relative to the source. */
  readonly hasDirectory: (path: string) => boolean;
}

/**
 * Returns a suggestion for patterns that match no file: most begin outside the source, or name a directory. Otherwise explains
 * what patterns are compared with.
 */
export function hintForPatterns(patterns: readonly string[], places: readonly PatternPlace[]): string {
  for (const place of places)
    for (const pattern of patterns) {
      const hint = hintFor(pattern, place);
      if (hint !== null) return hint;
    }
  const names = places.map(({ name }) => name).join(', ');
  return `patterns match paths within the source (${names}) and are case-sensitive`;
}
function hintFor(pattern: string, place: PatternPlace): string | null {
  const { name, hasDirectory } = place;
  const path = pattern.replace(/^\//u, '');
  const within = withinSource(pattern, place);
  if (within !== path && within !== '')
    return `patterns are relative to the source ${name}: write ${written(within)}`;
  const [first = ''] = pattern.split('\\');
  if (first !== pattern && hasDirectory(first))
    return `directories are separated by "/": write ${written(pattern.replaceAll('\\', '/'))}`;
  if (hasDirectory(path)) return `${written(path)} is a directory: write ${written(`${path}/**`)}`;
  if (/^\.\w+$/u.test(pattern)) return `to match names that end in it, write ${written(`*${pattern}`)}`;
  if (/[^\\],\s*\S/u.test(pattern) && !/[{}()]/u.test(pattern))
    return `several patterns need a list: write [${pattern
      .split(',')
      .map((one) => written(one.trim()))
      .join(', ')}]`;
  return null;
}

/** Removes the part of a pattern that leads to the source: its path, the name of its directory, or its key prefix. */
function withinSource(pattern: string, { directory, keyPrefix, hasDirectory }: PatternPlace): string {
  const relative = withoutStart(pattern.replace(/^(?:\.{1,2}\/)+/u, ''), `${directory}/`).replace(/^\//u, '');
  const [first = ''] = relative.split('/');
  // The pattern may mean a directory of that name within the source.
  if (first === relative || hasDirectory(first)) return relative;
  const withoutName = withoutStart(relative, `${directory.slice(directory.lastIndexOf('/') + 1)}/`);
  return withoutName === relative && keyPrefix !== '' ? withoutStart(relative, keyPrefix) : withoutName;
}
function withoutStart(text: string, start: string): string {
  return text.startsWith(start) ? text.slice(start.length) : text;
}
function written(pattern: string): string {
  return JSON.stringify(pattern);
}
