import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import type { PathFilter } from '../../files/filter.ts';

/** Linux's list of the mounts that this process sees. */
const MOUNT_INFO = '/proc/self/mountinfo';

interface MountedSource {
  readonly root: string;
  readonly realRoot: string;
  readonly filter: PathFilter;
}

interface FoundMounts extends MountedSource {
  /** Where file systems were mounted when the source was found. */
  readonly mounts: readonly string[];
}

/**
 * Returns where other file systems are mounted below a source's directory, sorted, relative to it and without ignored
 * paths. Empty on systems without `/proc`.
 */
export function mountsBelow({ realRoot, filter }: Pick<MountedSource, 'realRoot' | 'filter'>): string[] {
  let text: string;
  try {
    text = readMountInfo();
  } catch {
    return [];
  }
  return parseMounts(text, realRoot).filter((mount) => !filter.ignoresFile(`${mount}/file`));
}

/** Reused, because `readFileSync` allocates a buffer at each call, which takes as long as the reading. */
const room = Buffer.alloc(64 * 1024);

function readMountInfo(): string {
  const descriptor = openSync(MOUNT_INFO, 'r');
  try {
    let text = '';
    for (;;) {
      const bytes = readSync(descriptor, room);
      if (bytes === 0) return text;
      text += room.toString('latin1', 0, bytes);
    }
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Returns all mounts below a directory, from text in the format of `/proc/PID/mountinfo` whose characters are bytes.
 * Excludes paths that are not valid UTF-8, below which nothing is synced, and triggers of automounters, which contain
 * no files.
 */
export function parseMounts(text: string, realRoot: string): string[] {
  const below = realRoot.endsWith('/') ? realRoot : `${realRoot}/`;
  const points = mountPoints(text)
    .filter((point) => point.startsWith(below) && point !== below)
    .map((point) => point.slice(below.length));
  return [...new Set(points)].sort();
}

/** The last result: a daemon reads the same text every few seconds. */
let last: { readonly text: string; readonly points: readonly string[] } = { text: '', points: [] };

function mountPoints(text: string): readonly string[] {
  if (text === last.text) return last.points;
  const points = text.split('\n').flatMap((line) => {
    const [placed = '', described = ''] = line.split(' - ');
    const point = decode(placed.split(' ')[4] ?? '');
    return described.startsWith('autofs ') || point === null ? [] : [point];
  });
  last = { text, points };
  return points;
}

/** Returns whether the same is mounted below a source as when it was found. */
export function areMountsUnchanged(source: FoundMounts): boolean {
  return changedMounts(source, source.mounts).length === 0;
}

export interface ChangedMount {
  readonly place: string;
  readonly isMounted: boolean;
}

/** Compares the current mounts below a source with earlier ones. */
export function changedMounts(source: MountedSource, before: readonly string[]): ChangedMount[] {
  const came = mountsBelow(source).filter((mount) => !before.includes(mount));
  return [
    ...missingMounts(source, before).map((place) => ({ place, isMounted: false })),
    ...came.map((place) => ({ place, isMounted: true })),
  ];
}

/** Returns those mounts that are missing, even after an access to each that lets automounters mount it. */
function missingMounts(source: MountedSource, mounts: readonly string[]): string[] {
  const missing = (): string[] => {
    const now = new Set(mountsBelow(source));
    return mounts.filter((mount) => !now.has(mount));
  };
  if (mounts.length === 0 || missing().length === 0) return [];
  for (const mount of missing()) existsSync(`${source.root}/${mount}/.`);
  return missing();
}

/**
 * Decodes a path as the kernel writes it: white space and backslashes as three octal digits. `null`: not valid UTF-8.
 */
function decode(written: string): string | null {
  const bytes = Buffer.from(
    written.replace(/\\([0-7]{3})/gu, (_all, digits: string) => String.fromCharCode(parseInt(digits, 8))),
    'latin1',
  );
  const path = bytes.toString('utf8');
  return Buffer.from(path, 'utf8').equals(bytes) ? path : null;
}
