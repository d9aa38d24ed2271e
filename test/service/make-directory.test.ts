import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory } from '../../src/service/process-lock.ts';
import { makeTemporaryDirectory } from '../temporary-directory.ts';

test('makes a directory and those above it, for this user alone', () => {
  const root = makeTemporaryDirectory('make-directory');
  const deep = join(root, 'a/b/c');
  makeDirectory(deep);
  makeDirectory(deep);
  expect(statSync(deep).mode & 0o777).toBe(0o700);
  expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700);
});

test('says what the system says where it cannot be made', () => {
  const root = makeTemporaryDirectory('make-directory');
  writeFileSync(join(root, 'file'), '');
  mkdirSync(join(root, 'there'));
  expect(() => {
    makeDirectory(join(root, 'file'));
  }).toThrow('EEXIST');
  expect(() => {
    makeDirectory(join(root, 'file/below'));
  }).toThrow('ENOTDIR');
});

test.skipIf(process.platform !== 'linux')('ends below /proc, where nothing can be made', () => {
  expect(() => {
    makeDirectory('/proc/botsync/deep');
  }).toThrow('ENOENT');
});
