import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';

/** Tells a machine and a state file on it from all others, as far as that can be told. */
export function machineOf(stateFile: string): string {
  const parts = [hostname(), textOf('/etc/machine-id'), stateFile, inodeOf(dirname(stateFile))];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}

function inodeOf(directory: string): string {
  const facts = statSync(directory, { throwIfNoEntry: false });
  return facts === undefined ? '' : `${facts.dev}:${facts.ino}`;
}
