import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The directories below one, absolute. Links are none: `readdir` follows them in some versions of Node, round and round. */
export function listDirectories(root: string): string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => [join(root, name), ...listDirectories(join(root, name))]);
}
