import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { meaning, problem, type Reading } from '../../config/problem.ts';
import { readPath } from '../../config/values.ts';
import { DISK } from '../../files/disk.ts';
import { describeNearest } from '../../words/halt.ts';
import { findNearest } from '../../sync/sources/source.ts';
import { shown } from '../render/output.ts';
import { demand } from '../usage-error.ts';
import type { Prompter } from './prompter.ts';

export interface DirectoryPorts {
  /** `null` without a terminal. */
  readonly prompter: Prompter | null;
  readonly warn: (message: string) => unknown;
}

/**
 * Determines the directory to sync, by option or question. A missing one causes a warning or must be confirmed.
 * Throws `UsageError` for a file.
 */
export async function settleDirectory(
  given: string | undefined,
  { prompter, warn }: DirectoryPorts,
): Promise<string> {
  if (given !== undefined || prompter === null) {
    const directory = given ?? '';
    demand('--directory', readDirectory(directory));
    const missing = describeMissing(directory);
    if (missing !== null) warn(`${missing}; create it before the first pass`);
    return directory;
  }
  for (;;) {
    const directory = await prompter.text('Directory to sync', './docs', readDirectory);
    const missing = describeMissing(directory);
    if (missing === null) return directory;
    // Enter takes the first choice: accepting all defaults must not repeat the question.
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

/** Returns a message with the nearest existing directory; `null` if the directory exists. */
function describeMissing(directory: string): string | null {
  if (kindOf(directory) !== 'missing') return null;
  return shown(`${directory} does not exist (${describeNearest(findNearest(resolve(directory), DISK))})`);
}

function kindOf(path: string): 'directory' | 'other' | 'missing' {
  try {
    return statSync(path).isDirectory() ? 'directory' : 'other';
  } catch {
    return 'missing';
  }
}
