import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { meaning, problem, type Reading } from '../../config/reading.ts';
import { readPath } from '../../config/values.ts';
import { DISK } from '../../scan/disk.ts';
import { describeNearest } from '../../sync/sources/missing-directory.ts';
import { shown } from '../render/output.ts';
import { UsageError } from '../usage-error.ts';
import type { Prompter } from './prompter.ts';

/** Where the directory comes from, and who hears of one that does not exist. */
export interface DirectoryPorts {
  /** `null`: there is nobody to ask. */
  readonly prompter: Prompter | null;
  readonly warn: (message: string) => unknown;
}

/**
 * The directory to keep on the platform: as the option says, or by asking. One that does not exist is warned of, or has to
 * be confirmed. Throws `UsageError` for what is none.
 */
export async function settleDirectory(
  given: string | undefined,
  { prompter, warn }: DirectoryPorts,
): Promise<string> {
  if (given !== undefined || prompter === null) {
    const directory = given ?? '';
    const reading = readDirectory(directory);
    if (reading.kind === 'problem') throw new UsageError(`--directory: ${reading.message}`);
    const missing = describeMissing(directory);
    if (missing !== null) warn(`${missing}; create it before the first pass`);
    return directory;
  }
  for (;;) {
    const directory = await prompter.text('Directory to sync', './docs', readDirectory);
    const missing = describeMissing(directory);
    if (missing === null) return directory;
    // The first is what Enter chooses: whoever takes every default must not be asked the same again.
    const isMeant = await prompter.choose(missing, [
      { name: 'use it; create it before the first pass', value: true },
      { name: 'name another directory', value: false },
    ]);
    if (isMeant) return directory;
  }
}

function readDirectory(text: string): Reading<unknown> {
  const reading = readPath(text);
  if (reading.kind === 'problem') return reading;
  return kindOf(text) === 'other'
    ? problem(`${shown(text)} is not a directory; name the directory that contains the files`)
    : meaning(text);
}

/** That a directory does not exist, with the nearest that does; `null`: it is there. */
function describeMissing(directory: string): string | null {
  if (kindOf(directory) !== 'missing') return null;
  return shown(`${directory} does not exist (${describeNearest(resolve(directory), DISK)})`);
}

function kindOf(path: string): 'directory' | 'other' | 'missing' {
  try {
    return statSync(path).isDirectory() ? 'directory' : 'other';
  } catch {
    return 'missing';
  }
}
