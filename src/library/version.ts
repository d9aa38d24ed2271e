import { readFileSync } from 'node:fs';

/** The version of this botsync; "of unknown version" where its installation lacks `package.json`: no reason to fail. */
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
