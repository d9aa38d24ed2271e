import { expect, test } from 'vitest';
import { isSameLook, legiblePart, type PathLook } from '../../src/domain/hint.ts';

const file = (sizeBytes: bigint, mtimeNs: bigint): PathLook => ({ kind: 'file', sizeBytes, mtimeNs });
const link = (sizeBytes: bigint, mtimeNs: bigint): PathLook => ({ kind: 'link', sizeBytes, mtimeNs });
const directory = (mtimeNs: bigint): PathLook => ({ kind: 'directory', mtimeNs });
const ABSENT: PathLook = { kind: 'absent' };
const OTHER: PathLook = { kind: 'other' };

const AT = 1_750_000_000_123_456_789n;
const SECOND = 1_750_000_000_000_000_000n;

test.each<[string, PathLook, PathLook, boolean]>([
  ['the same file', file(3n, AT), file(3n, AT), true],
  ['another size', file(3n, AT), file(4n, AT), false],
  ['another time', file(3n, AT), file(3n, AT + 1_000_000n), false],
  ['hundreds of nanoseconds, as SMB tells', file(3n, AT), file(3n, 1_750_000_000_123_456_700n), true],
  ['whole seconds, as SFTP tells', file(3n, AT), file(3n, SECOND), true],
  ['another whole second', file(3n, AT), file(3n, SECOND + 1_000_000_000n), false],
  ['two times of one second', file(3n, SECOND + 1000n), file(3n, SECOND + 2000n), false],
  ['a link in the place of a file', file(3n, AT), link(3n, AT), false],
  ['the same link', link(3n, AT), link(3n, AT), true],
  ['a directory', directory(AT), directory(AT), true],
  ['a directory with other entries', directory(AT), directory(AT + 5000n), false],
  ['a directory in the place of a file', file(3n, AT), directory(AT), false],
  ['a file in the place of a directory', directory(AT), file(3n, AT), false],
  ['both absent', ABSENT, ABSENT, true],
  ['gone there', file(3n, AT), ABSENT, false],
  ['not here yet', ABSENT, file(3n, AT), false],
  ['sockets', OTHER, OTHER, true],
  ['a socket in the place of nothing', ABSENT, OTHER, false],
])('%s', (_what, here, there, isSame) => {
  expect(isSameLook(here, there)).toBe(isSame);
});

test.each([
  ['a/b.md', 'a/b.md'],
  ['a/b\ufffd.md', 'a'],
  ['a/b\ufffd/c/d\ufffd', 'a'],
  ['\ufffd', null],
  ['\ufffd/a', null],
])('of %j the part up to %j can be told', (path, legible) => {
  expect(legiblePart(path)).toBe(legible);
});
