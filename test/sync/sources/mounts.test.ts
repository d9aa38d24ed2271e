import { expect, test } from 'vitest';
import { parseMounts } from '../../../src/sync/sources/mounts.ts';

const line = (point: string): string => `36 27 98:0 / ${point} rw,noatime shared:1 - ext4 /dev/sdb rw`;
const bytes = (text: string): string => Buffer.from(text).toString('latin1');

test.each([
  ['one below it', '/srv/docs', [line('/'), line('/srv'), line('/srv/docs/nas')], ['nas']],
  ['the directory itself is none', '/srv/docs', [line('/srv/docs')], []],
  ['a neighbour of the same beginning is none', '/srv/docs', [line('/srv/docs-old/nas')], []],
  [
    'several, in order, one over the other once',
    '/d',
    [line('/d/b'), line('/d/a/c'), line('/d/b')],
    ['a/c', 'b'],
  ],
  ['all below the root', '/', [line('/'), line('/srv')], ['srv']],
  ['spaces, line ends and backslashes', '/d', [line('/d/a\\040b\\012c\\134d')], ['a b\nc\\d']],
  ['accents', '/d', [bytes(line('/d/café'))], ['café']],
  ['an automounter is no mount', '/d', ['30 20 0:40 / /d/nas rw,relatime - autofs systemd-1 rw,fd=45'], []],
  ['no valid UTF-8', '/d', [line('/d/caf\u00e9')], []],
  ['no line of the form', '/d', ['', 'x'], []],
])('%s', (_name, root, lines, mounts) => {
  expect(parseMounts(lines.join('\n'), root)).toEqual(mounts);
});
