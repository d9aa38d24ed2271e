import type { BigIntStats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';

/** Longer chains of links are loops, as for the system. */
const MOST_LINKS = 40;

/** The way to a file, link by link. */
export interface PathSteps {
  /**
   * What is looked up on the way, in order: directories, links, and the file itself, which may not exist. No link is in the
   * way to them.
   */
  readonly entries: ReadonlySet<string>;
  /** Those of the entries that exist and are no links. */
  readonly targets: ReadonlySet<string>;
  /** Another one when any of the entries is another file than it was. */
  readonly identity: string;
}

/** Follows a path as the system does when it opens it. `path` is absolute. Throws nothing. */
export async function stepsTo(path: string): Promise<PathSteps> {
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
  return { entries, targets, identity: identities.join('\n') };
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
