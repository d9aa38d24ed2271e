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
