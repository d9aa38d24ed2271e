import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openSync, type OpenOptions, type Sync } from '../../src/run/botsync.ts';
import type { Site } from '../cli/binary.ts';

/** The sync of a site in this process, closed with the test; its token is in no other environment. */
export function openSite(site: Site, options: OpenOptions = {}): Sync {
  const sync = openSync({ config: join(site.directory, 'botsync.config.json'), env: site.env, ...options });
  onTestFinished(() => sync.close());
  return sync;
}
