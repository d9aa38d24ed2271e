import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DISK } from '../../../src/files/disk.ts';
import { presenceOf } from '../../../src/sync/sources/presence.ts';
import { makeTemporaryDirectory } from '../../temporary-directory.ts';

test.each([
  ['a file', 'file', 'there'],
  ['a link that leads nowhere', 'link', 'there'],
  ['nothing', 'none', 'gone'],
  ['a directory instead of a file', 'directory', 'gone'],
  ['a file instead of its directory', 'file/below', 'gone'],
  ['what cannot be looked at, whoever asks', 'n'.repeat(300), 'unknown'],
])('%s', (_what, name, expected) => {
  const directory = makeTemporaryDirectory('presence');
  writeFileSync(join(directory, 'file'), 'x');
  mkdirSync(join(directory, 'directory'));
  symlinkSync('nowhere', join(directory, 'link'));
  expect(presenceOf({ disk: DISK, root: directory }, name)).toBe(expected);
});
