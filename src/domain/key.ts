import type { FileKey, RelativePath } from './brands.ts';

/** The key of a file: the source's prefix and the path, NFC-normalised (interface.md, File: `key`). */
export function fileKey(keyPrefix: string, path: RelativePath): FileKey {
  return (keyPrefix + path).normalize('NFC') as FileKey;
}
