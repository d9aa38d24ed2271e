import { resolve } from 'node:path';
import { lookAtFile } from '../../watch/file-contents.ts';
import { DaemonRun } from '../../library/daemon/daemon-run.ts';
import type { GlobalOptions } from '../global-options.ts';
import { load } from '../../library/load.ts';

/** `botsync sync`: keeps everything up to date until a signal. Returns the exit code; throws `UsageError`. */
export async function syncDaemon(options: GlobalOptions): Promise<number> {
  // Before it is read: a change from now on is noticed.
  const { content } = await lookAtFile(resolve(options.config));
  const run = new DaemonRun(options, load(options), content);
  try {
    await run.begin();
    return await run.untilStopped();
  } finally {
    await run.end();
  }
}
