import type { BigIntStats } from 'node:fs';
import { lstat, opendir, readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';

/** Longer chains of links are loops, as for the system. */
const MOST_LINKS = 40;

/** A larger directory costs too much to be read at each event. */
const MOST_ENTRIES = 500;

/** The way to a file, link by link. */
export interface PathSteps {
  /** Real directories in which a name is looked up on the way, as far as they exist. */
  readonly directories: ReadonlySet<string>;
  /** What is looked up there: directories, links, and the file itself, which may not exist. No link is in the way to them. */
  readonly entries: ReadonlySet<string>;
  /** Those of the entries that exist and are no links. */
  readonly targets: ReadonlySet<string>;
  /** Another one when any of the entries is another file than it was. */
  readonly identity: string;
}

/** Follows a path as the system does when it opens it. `path` is absolute. Throws nothing. */
export async function stepsTo(path: string): Promise<PathSteps> {
  const directories = new Set<string>();
  const entries = new Set<string>();
  const targets = new Set<string>();
  const identities: string[] = [];
  const names = namesOf(path);
  let directory = resolve('/');
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === '..') {
      directory = dirname(directory);
      continue;
    }
    const entry = join(directory, name);
    directories.add(directory);
    entries.add(entry);
    const stats = await statsOf(entry);
    identities.push(stats === null ? `${entry} absent` : `${entry} ${stats.dev}:${stats.ino}`);
    if (stats === null) break;
    if (!stats.isSymbolicLink()) {
      targets.add(entry);
      directory = entry;
      continue;
    }
    const target = await targetOf(entry);
    links += 1;
    if (target === null || links > MOST_LINKS) break;
    if (isAbsolute(target)) directory = resolve('/');
    names.unshift(...namesOf(target));
  }
  return { directories, entries, targets, identity: identities.join('\n') };
}

/** Whether a directory has so many entries that reading it at each event would be a burden. Throws nothing. */
export async function isCrowded(directory: string): Promise<boolean> {
  let entries = 0;
  try {
    for await (const entry of await opendir(directory, { bufferSize: MOST_ENTRIES })) {
      if (entry.name !== '') entries += 1;
      if (entries > MOST_ENTRIES) return true;
    }
  } catch {
    // One that cannot be read cannot be watched either.
    return true;
  }
  return false;
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

async function statsOf(path: string): Promise<BigIntStats | null> {
  try {
    return await lstat(path, { bigint: true });
  } catch {
    return null;
  }
}

async function targetOf(link: string): Promise<string | null> {
  try {
    return await readlink(link);
  } catch {
    return null;
  }
}
