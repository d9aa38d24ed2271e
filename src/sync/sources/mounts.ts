import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import type { PathFilter } from '../../files/filter.ts';

/** Where Linux says what is mounted for this process. */
const MOUNT_INFO = '/proc/self/mountinfo';

/** A source's directory, absolute, the same without links, and what it leaves out. */
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
 * The paths below a source's directory at which other file systems are mounted now and that it does not ignore, relative to
 * it, in order. None where the system does not tell (it does on Linux).
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

/** Read into again and again: `readFileSync` makes another one each time, which takes as long as the reading. */
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
 * All mounts below a directory, of a text in the form of `/proc/PID/mountinfo` whose characters stand for its bytes. Paths
 * that are not valid UTF-8 are left out, nothing below them is synced; and automounters' triggers, which hold no files.
 */
export function parseMounts(text: string, realRoot: string): string[] {
  const below = realRoot.endsWith('/') ? realRoot : `${realRoot}/`;
  const points = mountPoints(text)
    .filter((point) => point.startsWith(below) && point !== below)
    .map((point) => point.slice(below.length));
  return [...new Set(points)].sort();
}

/** What was read last: a daemon asks every few seconds, and is told the same. */
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

/** A place at which a file system was mounted or unmounted. */
export interface ChangedMount {
  readonly place: string;
  readonly isMounted: boolean;
}

/** Compares what is mounted below a source now with what was mounted before. */
export function changedMounts(source: MountedSource, before: readonly string[]): ChangedMount[] {
  const came = mountsBelow(source).filter((mount) => !before.includes(mount));
  return [
    ...missingMounts(source, before).map((place) => ({ place, isMounted: false })),
    ...came.map((place) => ({ place, isMounted: true })),
  ];
}

/** Returns those of some mounts that are not there now, also not for being asked for, as automounters wait to be. */
function missingMounts(source: MountedSource, mounts: readonly string[]): string[] {
  const missing = (): string[] => {
    const now = new Set(mountsBelow(source));
    return mounts.filter((mount) => !now.has(mount));
  };
  if (mounts.length === 0 || missing().length === 0) return [];
  for (const mount of missing()) existsSync(`${source.root}/${mount}/.`);
  return missing();
}

/** A path as the kernel writes it: white space and backslashes by three octal digits. */
function decode(written: string): string | null {
  const bytes = Buffer.from(
    written.replace(/\\([0-7]{3})/gu, (_all, digits: string) => String.fromCharCode(parseInt(digits, 8))),
    'latin1',
  );
  const path = bytes.toString('utf8');
  return Buffer.from(path, 'utf8').equals(bytes) ? path : null;
}
