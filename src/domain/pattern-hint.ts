/** A source as far as patterns are about it. */
export interface PatternPlace {
  readonly name: string;
  /** Absolute. */
  readonly directory: string;
  readonly keyPrefix: string;
  /** Whether there is a directory at a path relative to the source. */
  readonly hasDirectory: (path: string) => boolean;
}

/**
 * What to write in place of patterns that match no file of some sources, where that can be told: most begin outside the
 * source, or name a directory. Else what patterns are compared with.
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

/** A pattern without what leads from outside to the source: its path, the name of its directory, or its key prefix. */
function withinSource(pattern: string, { directory, keyPrefix, hasDirectory }: PatternPlace): string {
  const relative = withoutStart(pattern.replace(/^(?:\.{1,2}\/)+/u, ''), `${directory}/`).replace(/^\//u, '');
  const [first = ''] = relative.split('/');
  // It may be a directory of that name within the source that is meant.
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
