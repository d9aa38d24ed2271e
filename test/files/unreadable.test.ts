import { chmodSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  bytewise,
  entriesOf,
  filesOf,
  linesOf,
  plant,
  target,
  temporaryDirectory,
  tree,
} from './scan-fixture.ts';

describe('what cannot be read', () => {
  /** A directory whose deepest part has a path too long for the system: unreadable for root as well. */
  const tooDeep = (): string => {
    const parent = temporaryDirectory();
    const segment = 'd'.repeat(200);
    const root = `${parent}/root`;
    // Upper and lower half are made apart, each with a path that is short enough, then joined.
    const half = (below: string, bytes: number): string => {
      let path = below;
      while (path.length + segment.length + 1 < bytes) path += `/${segment}`;
      mkdirSync(path, { recursive: true });
      return path;
    };
    const near = half(root, 3_700);
    half(`${parent}/lower/low`, 1_000);
    writeFileSync(`${parent}/lower/low/file`, 'x');
    renameSync(`${parent}/lower/low`, `${near}/low`);
    onTestFinished(() => {
      renameSync(`${near}/low`, `${parent}/lower/low`);
    });
    plant(root, 'a', 'z');
    return root;
  };

  test('a directory is told of, with a slash at the end of its path, and the rest goes on', () => {
    const entries = entriesOf(target(tooDeep()));
    expect(entries.map(({ kind }) => kind)).toEqual(['file', 'unlisted', 'file', 'file']);
    const unlisted = entries.find((entry) => entry.kind === 'unlisted');
    expect(unlisted?.path.endsWith('/')).toBe(true);
    expect(unlisted?.reason).toEqual({ kind: 'unlistable', code: 'ENAMETOOLONG' });
    expect(entries.at(-1)?.path).toBe('z');
    const paths = entries.map(({ path }) => path);
    expect(paths).toEqual(bytewise(paths));
  });

  test('a file is there, but unseen', () => {
    const parent = temporaryDirectory();
    const root = `${parent}/root`;
    let deep = root;
    while (deep.length + 201 <= 3_990) deep += `/${'d'.repeat(200)}`;
    mkdirSync(deep, { recursive: true });
    // Its directory can be listed, its own path is too long.
    const directory = `${deep}/${'e'.repeat(4_000 - deep.length - 1)}`;
    plant(parent, `made/${'f'.repeat(200)}`, 'root/z');
    renameSync(`${parent}/made`, directory);
    onTestFinished(() => {
      renameSync(directory, `${parent}/made`);
    });
    const [first, second] = entriesOf(target(root));
    expect(first).toMatchObject({ kind: 'unseen', reason: { kind: 'unreadable', code: 'ENAMETOOLONG' } });
    expect(second).toMatchObject({ kind: 'file', path: 'z' });
  });

  test.skipIf(process.getuid?.() === 0)('permission', () => {
    const root = tree('a', 'closed/x', 'z');
    chmodSync(`${root}/closed`, 0);
    onTestFinished(() => {
      chmodSync(`${root}/closed`, 0o700);
    });
    expect(linesOf(target(root))).toEqual(['a', 'unlisted closed/: cannot be listed: EACCES', 'z']);
  });

  test('the source itself: the error is thrown', () => {
    const root = temporaryDirectory();
    expect(() => linesOf(target(`${root}/missing`))).toThrow(/ENOENT/u);
    writeFileSync(`${root}/file`, '');
    expect(() => linesOf(target(`${root}/file`))).toThrow(/ENOTDIR/u);
  });
});

describe('names that are not valid UTF-8', () => {
  const raw = (root: string, name: readonly number[]): Buffer =>
    Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name)]);
  const REASON = 'the name is not valid UTF-8; rename it';

  test.skipIf(process.platform === 'darwin')(
    'are problems, files and directories alike, and hide nothing else',
    () => {
      const root = tree('a', 'z', 'sub/x');
      writeFileSync(raw(root, [0x63, 0xff]), '');
      writeFileSync(raw(`${root}/sub`, [0xc3]), '');
      mkdirSync(raw(root, [0x64, 0xfe]));
      symlinkSync('a', raw(root, [0x65, 0x80]));
      expect(linesOf(target(root, { symlinks: 'follow' }))).toEqual([
        'a',
        `problem c\\xff: ${REASON}`,
        `problem d\\xfe: ${REASON}`,
        `problem e\\x80: ${REASON}`,
        `problem sub/\\xc3: ${REASON}`,
        'sub/x',
        'z',
      ]);
    },
  );

  test('a genuine U+FFFD in a name is fine', () => {
    expect(filesOf(target(tree('a\ufffd', '\ufffd/x')))).toEqual(['a\ufffd', '\ufffd/x']);
  });

  test.skipIf(process.platform === 'darwin')('one does not hide the file whose name it seems to have', () => {
    const root = tree('a\ufffd', 'b\ufffd/x', 'c');
    writeFileSync(raw(root, [0x61, 0xff]), '');
    writeFileSync(raw(root, [0x62, 0xff]), '');
    symlinkSync('c', `${root}/d\ufffd`);
    expect(linesOf(target(root, { symlinks: 'inside' }))).toEqual([
      `problem a\\xff: ${REASON}`,
      'a\ufffd',
      `problem b\\xff: ${REASON}`,
      'b\ufffd/x',
      'c',
      'd\ufffd',
    ]);
  });
});
