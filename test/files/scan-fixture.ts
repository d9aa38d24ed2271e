import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DISK, factsReader } from '../../src/files/disk.ts';
import { createFilter } from '../../src/files/filter.ts';
import { scan, type ScanEntry, type ScanTarget } from '../../src/files/scan.ts';
import { makeTemporaryDirectory } from '../temporary-directory.ts';
import { describeReason } from '../../src/words/obstacle.ts';

/** A temporary directory that goes with the test. */
export function temporaryDirectory(): string {
  return makeTemporaryDirectory('scan');
}

/** Writes files (paths relative to a directory) with their parents; a path that ends in `/` is a directory. */
export function plant(directory: string, ...paths: readonly string[]): void {
  for (const path of paths) {
    const whole = `${directory}/${path}`;
    mkdirSync(path.endsWith('/') ? whole : dirname(whole), { recursive: true });
    if (!path.endsWith('/')) writeFileSync(whole, path);
  }
}

/** A new directory with files. */
export function tree(...paths: readonly string[]): string {
  const root = temporaryDirectory();
  plant(root, ...paths);
  return root;
}

/** What a scan of a directory walks, without patterns unless given. */
export function target(
  root: string,
  some: Partial<ScanTarget> & { patterns?: readonly string[] } = {},
): ScanTarget {
  const { patterns = [], ...rest } = some;
  const filter = createFilter(patterns, () => false);
  return {
    root,
    realRoot: root,
    symlinks: 'skip',
    protectedFiles: new Set(),
    filter,
    disk: DISK,
    factsOf: factsReader(rest.disk ?? DISK),
    ...rest,
  };
}

type Told = Exclude<ScanEntry, { kind: 'tick' }>;

/** All a scan says, without ticks. */
export function entriesOf(one: ScanTarget): Told[] {
  return [...scan(one)].filter((entry): entry is Told => entry.kind !== 'tick');
}

/** The paths of a scan's files. */
export function filesOf(one: ScanTarget): string[] {
  return entriesOf(one).map((entry) => {
    if (entry.kind !== 'file')
      throw new Error(`${entry.kind} ${entry.path}: ${describeReason(entry.reason)}`);
    return entry.path;
  });
}

/** All a scan says, one line each: the path of a file, else kind, path and reason. */
export function linesOf(one: ScanTarget): string[] {
  return entriesOf(one).map((entry) =>
    entry.kind === 'file' ? entry.path : `${entry.kind} ${entry.path}: ${describeReason(entry.reason)}`,
  );
}

/** Paths in the order of their bytes. */
export const bytewise = (paths: readonly string[]): string[] =>
  [...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
