import { closeSync, mkdirSync, openSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RelativePath } from '../../src/domain/key.ts';
import { type SourceFile, type SourceRoot, openSourceFile } from '../../src/files/source-file.ts';
import { makeTemporaryDirectory } from '../temporary-directory.ts';

/** A source in a new temporary directory, with room beside it. */
export interface TestSource {
  readonly root: string;
  /** A directory that is not part of the source. */
  readonly outside: string;
  readonly source: SourceRoot;
  /** Writes a file long ago, and gives its absolute path. */
  readonly write: (path: string, content: string | Buffer) => string;
}

/** Makes a source; it goes with the test. */
export function makeSource(symlinks: SourceRoot['symlinks'] = 'skip'): TestSource {
  const dir = makeTemporaryDirectory('upload');
  const [root, outside] = [join(dir, 'source'), join(dir, 'outside')];
  mkdirSync(root);
  mkdirSync(outside);
  return {
    root,
    outside,
    source: { root, realRoot: root, symlinks, factsOf: (stats) => stats },
    write: (path, content) => {
      const full = join(root, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, content);
      utimesSync(full, 1e9, 1e9);
      return full;
    },
  };
}

/** A relative path. */
export function at(path: string): RelativePath {
  return path as RelativePath;
}

/** Opens a file that has to be there; it is closed with the test. */
export function open(source: SourceRoot, path: string): SourceFile {
  const opened = openSourceFile(source, at(path));
  if (opened.kind !== 'open') throw new Error(`not open: ${opened.kind}`);
  onTestFinished(() => opened.file.close());
  return opened.file;
}

/**
 * Rewrites a file in place at the same size and sets its mtime back, as a sly editor might. Done again until the file
 * system's clock, which ticks every few milliseconds, has moved on: only ctime shows it.
 */
export function rewriteSlyly(path: string, content: string | Buffer): void {
  const before = statSync(path, { bigint: true });
  do {
    writeFileSync(path, content, { flag: 'r+' });
    utimesSync(path, 1e9, 1e9);
  } while (statSync(path, { bigint: true }).ctimeNs === before.ctimeNs);
}

/** Puts a directory in the place of an open file, under the same number: every reading fails from now on. */
export function breakReading(fd: number, directory: string): void {
  closeSync(fd);
  openUnder(fd, directory);
}

/** Opens another file under the number of one that was closed; it is closed with the test. */
export function reopenAs(fd: number, path: string): void {
  openUnder(fd, path);
  onTestFinished(() => {
    closeSync(fd);
  });
}

function openUnder(fd: number, path: string): void {
  // The lowest number that is free is taken: others may have become free as well.
  const lower: number[] = [];
  let opened = openSync(path, 'r');
  for (; opened < fd; opened = openSync(path, 'r')) lower.push(opened);
  lower.forEach(closeSync);
  if (opened !== fd) throw new Error('the number was taken by another file');
}
