import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  appendFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openSourceFile, type SourceRoot } from '../../src/files/source-file.ts';
import { descriptorsBelow } from '../descriptors.ts';
import { at, makeSource, open, rewriteSlyly, type TestSource } from './source-fixture.ts';
import { describeObstacle } from '../../src/words/obstacle.ts';

type Symlinks = SourceRoot['symlinks'];

const LEADS_OUT = 'unreadable: a link leads out of the source';
const LINK = 'unreadable: it was replaced by a symbolic link';
const NOT_REGULAR = 'unreadable: no longer a regular file';

/** Opens, reads all, closes; in one line. */
async function look(source: SourceRoot, path: string): Promise<string> {
  const opened = openSourceFile(source, at(path));
  if (opened.kind === 'vanished') return 'vanished';
  if (opened.kind === 'unreadable') return `unreadable: ${describeObstacle(opened.reason)}`;
  const content = await opened.file.read(0, Buffer.alloc(opened.file.sizeBytes));
  await opened.file.close();
  return `open: ${content.toString()}`;
}

describe('what a path turns out to be', () => {
  const cases: [string, (source: TestSource) => void, Record<Symlinks, string>][] = [
    [
      'a file',
      ({ write }) => write('dir/a', 'content'),
      { skip: 'open: content', inside: 'open: content', follow: 'open: content' },
    ],
    ['nothing', () => undefined, { skip: 'vanished', inside: 'vanished', follow: 'vanished' }],
    [
      'nothing, a file being in place of its directory',
      ({ write }) => write('dir', ''),
      { skip: 'vanished', inside: 'vanished', follow: 'vanished' },
    ],
    [
      'a directory',
      ({ root }) => mkdirSync(join(root, 'dir/a'), { recursive: true }),
      { skip: NOT_REGULAR, inside: NOT_REGULAR, follow: NOT_REGULAR },
    ],
    [
      'a FIFO',
      ({ root }) => {
        mkdirSync(join(root, 'dir'));
        execFileSync('mkfifo', [join(root, 'dir/a')]);
      },
      { skip: NOT_REGULAR, inside: NOT_REGULAR, follow: NOT_REGULAR },
    ],
    [
      'a link to a file within the source',
      ({ root, write }) => {
        write('b', 'content');
        mkdirSync(join(root, 'dir'));
        symlinkSync('../b', join(root, 'dir/a'));
      },
      { skip: LINK, inside: 'open: content', follow: 'open: content' },
    ],
    [
      'a link to a file outside',
      ({ root, outside }) => {
        writeFileSync(join(outside, 'b'), 'secret');
        mkdirSync(join(root, 'dir'));
        symlinkSync(join(outside, 'b'), join(root, 'dir/a'));
      },
      { skip: LINK, inside: LEADS_OUT, follow: 'open: secret' },
    ],
    [
      'a link that dangles',
      ({ root }) => {
        mkdirSync(join(root, 'dir'));
        symlinkSync('nowhere', join(root, 'dir/a'));
      },
      { skip: LINK, inside: 'vanished', follow: 'vanished' },
    ],
    [
      'a link to itself',
      ({ root }) => {
        mkdirSync(join(root, 'dir'));
        symlinkSync('a', join(root, 'dir/a'));
      },
      { skip: LINK, inside: LINK, follow: LINK },
    ],
    [
      'a file below a directory that is a link leading out',
      ({ root, outside }) => {
        writeFileSync(join(outside, 'a'), 'secret');
        symlinkSync(outside, join(root, 'dir'));
      },
      { skip: LEADS_OUT, inside: LEADS_OUT, follow: 'open: secret' },
    ],
    [
      'a file below a link that leads to a sibling with a longer name',
      ({ root }) => {
        mkdirSync(`${root}-private`);
        writeFileSync(`${root}-private/a`, 'secret');
        symlinkSync(`${root}-private`, join(root, 'dir'));
      },
      { skip: LEADS_OUT, inside: LEADS_OUT, follow: 'open: secret' },
    ],
  ];
  for (const [what, prepare, expected] of cases) {
    test.each(['skip', 'inside', 'follow'] as const)(`${what}, links: %s`, async (symlinks) => {
      const made = makeSource(symlinks);
      prepare(made);
      expect(await look(made.source, 'dir/a')).toBe(expected[symlinks]);
    });
  }

  test('a source that is itself reached by a link is not left by its own files', async () => {
    const { root, outside, write } = makeSource();
    write('a', 'content');
    const link = join(outside, 'link');
    symlinkSync(root, link);
    for (const symlinks of ['skip', 'inside', 'follow'] as const)
      expect(await look({ root: link, realRoot: root, symlinks, factsOf: (stats) => stats }, 'a')).toBe(
        'open: content',
      );
  });

  test('a socket', async () => {
    const { root, source } = makeSource();
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(join(root, 'a'), resolve);
    });
    expect(await look(source, 'a')).toBe('unreadable: cannot be read: ENXIO');
    server.close();
  });

  test('a name that is too long', async () => {
    expect(await look(makeSource().source, 'x'.repeat(300))).toBe('unreadable: cannot be read: ENAMETOOLONG');
  });

  test.skipIf(process.getuid?.() === 0)('a file that must not be read', async () => {
    const { source, write } = makeSource();
    chmodSync(write('a', 'content'), 0o000);
    expect(await look(source, 'a')).toBe('unreadable: cannot be read: EACCES');
  });

  test('whatever it is, no descriptor is left open', async () => {
    const { root, outside, source, write } = makeSource();
    write('file', 'content');
    mkdirSync(join(root, 'directory'));
    symlinkSync(outside, join(root, 'out'));
    writeFileSync(join(outside, 'file'), '');
    symlinkSync('file', join(root, 'link'));
    for (const path of ['file', 'directory', 'out/file', 'link', 'nothing'])
      for (const symlinks of ['skip', 'inside', 'follow'] as const) await look({ ...source, symlinks }, path);
    expect([...descriptorsBelow(root), ...descriptorsBelow(outside)]).toEqual([]);
  });
});

describe('an open file', () => {
  const CHANGES: [string, (path: string) => void, { unchanged: boolean; inPlace: boolean }][] = [
    ['left alone', () => undefined, { unchanged: true, inPlace: true }],
    [
      'grown',
      (path) => {
        appendFileSync(path, '!');
      },
      { unchanged: false, inPlace: true },
    ],
    [
      'shrunk',
      (path) => {
        truncateSync(path, 3);
      },
      { unchanged: false, inPlace: true },
    ],
    [
      'rewritten at the same size, mtime set back',
      (path) => {
        rewriteSlyly(path, 'CONTENT');
      },
      { unchanged: false, inPlace: true },
    ],
    [
      'deleted',
      (path) => {
        rmSync(path);
      },
      { unchanged: false, inPlace: false },
    ],
  ];
  test.each(CHANGES)('%s', (_, change, expected) => {
    const { source, write } = makeSource();
    const path = write('a', 'content');
    const file = open(source, 'a');
    change(path);
    expect({ unchanged: file.isUnchanged(), inPlace: file.isInPlace() }).toEqual(expected);
  });

  test('replaced by another is not in place, and still read as it was', async () => {
    const { source, write } = makeSource();
    const path = write('a', 'content');
    const file = open(source, 'a');
    renameSync(write('b', 'CONTENT'), path);
    expect(file.isInPlace()).toBe(false);
    expect((await file.read(0, Buffer.alloc(7))).toString()).toBe('content');
  });

  test('whose directory was replaced is not in place', () => {
    const { root, source, write } = makeSource();
    write('dir/a', 'content');
    const file = open(source, 'dir/a');
    renameSync(join(root, 'dir'), join(root, 'old'));
    write('dir/a', 'content');
    expect(file.isInPlace()).toBe(false);
    expect(file.isUnchanged()).toBe(true);
  });

  test('reads what is there, and nothing beyond its end', async () => {
    const { source, write } = makeSource();
    write('a', '0123456789');
    const file = open(source, 'a');
    expect((await file.read(2, Buffer.alloc(3))).toString()).toBe('234');
    expect((await file.read(8, Buffer.alloc(100))).toString()).toBe('89');
    expect((await file.read(10, Buffer.alloc(100))).length).toBe(0);
  });

  test('is closed only after what is being read from it', async () => {
    const { source, write } = makeSource();
    write('a', Buffer.alloc(50_000_000, 'x'));
    const opened = openSourceFile(source, at('a'));
    if (opened.kind !== 'open') throw new Error(opened.kind);
    let done = false;
    const reading = opened.file.read(0, Buffer.alloc(50_000_000)).then(() => {
      done = true;
    });
    await opened.file.close();
    expect(done).toBe(true);
    await reading;
  });
});
