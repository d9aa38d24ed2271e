import { readFileSync } from 'node:fs';

/** Returns the version of this botsync; "of unknown version" if the installation lacks `package.json`. */
export function version(): string {
  try {
    const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    return manifest.version;
  } catch {
    return 'of unknown version';
  }
}
