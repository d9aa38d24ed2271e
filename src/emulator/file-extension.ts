import { extname } from 'node:path/posix';

/** The lower-case extension of a key without its dot, '' when it has none. */
export function extensionOf(key: string): string {
  return extname(key).slice(1).toLowerCase();
}
