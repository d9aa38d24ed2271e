import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory, for this user alone, with those above it that are missing. Throws what the system says. Unlike Node's own
 * recursive `mkdirSync` it ends where a directory is there and nothing can be made in it, which the system calls ENOENT:
 * below `/proc` Node tries forever.
 */
export function makeDirectory(path: string): void {
  const missing: string[] = [];
  for (let next = path; !isDirectory(next) && dirname(next) !== next; next = dirname(next))
    missing.push(next);
  for (const directory of missing.reverse()) make(directory);
}

function make(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isDirectory(directory)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
