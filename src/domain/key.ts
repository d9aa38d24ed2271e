/** Returns the key of a file: the source's prefix and the path, NFC-normalised (interface.md, File: `key`). */
export function fileKey(keyPrefix: string, path: RelativePath): FileKey {
  return (keyPrefix + path).normalize('NFC') as FileKey;
}

/**
 * For identifiers that must not be mixed up. Each is created in one place: keys in `key.ts`, paths in `src/files/`, bots in
 * `src/config/`.
 */
declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** The name of a file on the platform: `keyPrefix` + relative path, NFC (interface.md, File: `key`). */
export type FileKey = Brand<string, 'FileKey'>;

/** A path relative to a source's directory, `/`-separated, exactly as the file system spells it. */
export type RelativePath = Brand<string, 'RelativePath'>;

/** A bot's id (interface.md, Bot summary: `id`). */
export type BotId = Brand<string, 'BotId'>;

/**
 * Compares two strings by their UTF-8 bytes, as SQLite's BINARY collation does.
 *
 * JavaScript compares UTF-16 code units, which differs only for surrogates (characters beyond the basic plane): they come before
 * U+E000–U+FFFF. Negative: `a` first; positive: `b` first; 0: equal.
 */
export function compareUtf8(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Moves surrogates above U+FFFF and keeps the order otherwise. */
function rank(codeUnit: number): number {
  if (codeUnit < 0xd800) return codeUnit;
  return codeUnit < 0xe000 ? codeUnit + 0x2000 : codeUnit - 0x800;
}

/** Returns whether a real path is a directory itself or is below it. Both are absolute and without links. */
export function isWithin(realRoot: string, realPath: string): boolean {
  const root = realRoot.endsWith('/') ? realRoot : `${realRoot}/`;
  return realPath === realRoot || realPath.startsWith(root);
}

/** Returns whether a relative path leads to something below its starting directory. */
export function leadsBelow(path: string): boolean {
  return (
    !path.includes('\0') && !path.split('/').some((name) => name === '' || name === '.' || name === '..')
  );
}
