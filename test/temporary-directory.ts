import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * Makes an empty temporary directory that goes with the test, whatever is in it by then; its real path, without links.
 * `room`: whose tests it is for, a part of its name.
 */
export function makeTemporaryDirectory(room: string): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), `botsync-${room}-`)));
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}
