import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The address of the project's pages; `null`: package.json has none. */
function homepage(): string | null {
  const manifest = JSON.parse(readFileSync(atRoot('package.json'), 'utf8')) as { homepage?: string };
  return manifest.homepage ?? null;
}

/** Where the documentation is: on the web, or where botsync is installed. */
export function documentation(): string {
  return homepage() ?? fileURLToPath(atRoot('docs/COMMANDS.md'));
}

/** A file of the package, from here and from the bundle alike. */
function atRoot(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}
