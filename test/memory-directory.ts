import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';

/** More than all tests that run at a time write. */
const LEAST_FREE_BYTES = 2e9;

/**
 * Makes a directory for the files of tests, in memory; it goes with this process. `null` where there is no memory for files,
 * as on macOS, too little of it, or where nothing may be executed there, as in most containers.
 */
export function makeMemoryDirectory(): string | null {
  let directory: string;
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < LEAST_FREE_BYTES) return null;
    directory = mkdtempSync(join(MEMORY, 'botsync-tests-'));
  } catch {
    return null;
  }
  process.once('exit', () => {
    rmSync(directory, { recursive: true, force: true });
  });
  // As the usual one: some tests are another user for a while.
  chmodSync(directory, 0o1777);
  const program = join(directory, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
  return spawnSync(program).status === 0 ? directory : null;
}
