import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createFilter } from '../../src/scan/filter.ts';
import { scan } from '../../src/scan/scan.ts';
import { entriesOf, filesOf, linesOf, plant, target, temporaryDirectory, tree } from './fixture.ts';

const bytewise = (paths: readonly string[]): string[] =>
  [...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

describe('the order', () => {
  const rows: readonly (readonly string[])[] = [
    ['b-a', 'b.a', 'b/c', 'b0'],
    ['a/b/c', 'a/b-c', 'a/b.c', 'a/b0/x', 'a-b', 'a.b', 'a0'],
    ['\u{1f600}/x', '\u{1f600}', '\ue000', '\uffff', '\ufffdx', 'z', '\u00e9'].filter(
      (one) => one !== '\u{1f600}',
    ),
    ['\u{1f600}-', '\u{1f600}/\uffff', '\u{1f600}/\u{1f601}', '\u{1f600}0', '\uf8ff/a'],
    ['x', 'X', '.x', ' x', '~x', '\nx'],
  ];
  test.each(rows)('is that of whole paths in bytes: %j', (...paths) => {
    expect(filesOf(target(tree(...paths)))).toEqual(bytewise(paths));
  });

  test('is the same for any tree', () => {
    const name = fc.oneof(
      fc.string({
        unit: fc.constantFrom('a', 'b', '-', '.', '0', 'é', '\uffff', '\u{1f600}'),
        minLength: 1,
        maxLength: 3,
      }),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }),
    );
    const sound = name.filter((one) => !/[/\0]|^\.{1,2}$/u.test(one));
    const paths = fc.array(fc.array(sound, { minLength: 1, maxLength: 3 }), { maxLength: 12 });
    fc.assert(
      fc.property(paths, (all) => {
        const root = temporaryDirectory();
        const planted = new Set<string>();
        for (const path of all.map((names) => names.join('/'))) {
          try {
            plant(root, path);
            planted.add(path);
          } catch {
            // A file stands where a directory should be, or the other way round.
          }
        }
        const filter = { ...createFilter([], () => false), ignores: () => false };
        expect(filesOf(target(root, { filter }))).toEqual(bytewise([...planted]));
        rmSync(root, { recursive: true });
      }),
      { numRuns: 60 },
    );
  });

  test('holds for everything a scan speaks of', () => {
    const root = tree('l-x', 'l0', 'a/b', 'a-b', 's-', 's0');
    symlinkSync('.', `${root}/l`);
    symlinkSync('nowhere', `${root}/s`);
    const paths = entriesOf(target(root, { symlinks: 'follow' })).map((entry) => entry.path);
    expect(paths).toEqual(bytewise(paths));
    expect(paths).toContain('l/');
  });
});

describe('a file', () => {
  test('comes with what its stat says, in nanoseconds', () => {
    const root = tree('a/b.md');
    const [entry] = entriesOf(target(root));
    const { size, mtimeNs, ctimeNs, ino } = lstatSync(`${root}/a/b.md`, { bigint: true });
    expect(entry).toMatchObject({ kind: 'file', path: 'a/b.md', facts: { size, mtimeNs, ctimeNs, ino } });
  });

  test('an empty one, an empty directory and an empty source are nothing special', () => {
    const root = tree('empty/', 'a');
    writeFileSync(`${root}/b`, '');
    expect(filesOf(target(root))).toEqual(['a', 'b']);
    expect(linesOf(target(temporaryDirectory()))).toEqual([]);
  });

  test('two names of one file are two files', () => {
    const root = tree('a');
    linkSync(`${root}/a`, `${root}/b`);
    expect(filesOf(target(root))).toEqual(['a', 'b']);
  });
});

describe('what is ignored', () => {
  test('is not spoken of, neither files, links nor directories', () => {
    const root = tree('a.md', 'b.log', 'drafts/x', 'keep/drafts', '.git/config', 'c.log/x');
    symlinkSync('a.md', `${root}/link.log`);
    expect(linesOf(target(root, { patterns: ['drafts/', '*.log'] }))).toEqual(['a.md', 'keep/drafts']);
    expect(linesOf(target(root, { patterns: ['*', '!*.md'] }))).toEqual(['a.md']);
    expect(linesOf(target(root, { patterns: ['/keep/', '!.git/', '*.log'] }))).toEqual([
      '.git/config',
      'a.md',
      'drafts/x',
    ]);
  });

  test('directories are not even entered', () => {
    const root = tree('a', 'skipped/x', 'other/y');
    const asked: string[] = [];
    const real = createFilter(['skipped/'], () => false);
    const filter = {
      ...real,
      ignores: (path: string, isDirectory: boolean) => {
        asked.push(`${path}${isDirectory ? '/' : ''}`);
        return real.ignores(path, isDirectory);
      },
    };
    expect(filesOf(target(root, { filter }))).toEqual(['a', 'other/y']);
    expect(asked).toEqual(['a', 'other/', 'other/y', 'skipped/']);
  });

  test('what is protected stays out, at its path only', () => {
    const root = tree('config.json', 'a/config.json');
    const filter = createFilter(['!config.json'], (path) => path === 'config.json');
    expect(filesOf(target(root, { filter }))).toEqual(['a/config.json']);
  });
});

describe('what is no regular file', () => {
  test('is passed over by name: FIFO, socket, device', async () => {
    const root = tree('a');
    execFileSync('mkfifo', [`${root}/fifo`]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(`${root}/socket`, resolve));
    onTestFinished(() => void server.close());
    expect(linesOf(target(root))).toEqual(['a', 'skip fifo: FIFO', 'skip socket: socket']);
    expect(linesOf(target('/dev')).filter((line) => line.startsWith('skip null'))).toEqual([
      'skip null: device',
    ]);
  });

  test('links to such are passed over as well, without opening them', () => {
    const root = temporaryDirectory();
    execFileSync('mkfifo', [`${root}/fifo`]);
    symlinkSync('fifo', `${root}/link`);
    symlinkSync('/dev/zero', `${root}/zero`);
    expect(linesOf(target(root, { symlinks: 'follow' }))).toEqual([
      'skip fifo: FIFO',
      'skip link: symbolic link to no regular file',
      'skip zero: symbolic link to no regular file',
    ]);
  });
});

describe('symbolic links', () => {
  const OUT = 'symbolic link that leads out of the source';
  const planted = (): string => {
    const outside = tree('secret', 'dir/file');
    const root = tree('real/file', 'a');
    symlinkSync('a', `${root}/to-file`);
    symlinkSync('real', `${root}/to-dir`);
    symlinkSync(`${outside}/secret`, `${root}/out-file`);
    symlinkSync(`${outside}/dir`, `${root}/out-dir`);
    symlinkSync('../gone', `${root}/dangling`);
    symlinkSync('itself', `${root}/itself`);
    return root;
  };
  const rows = {
    skip: [
      'a',
      'skip dangling: symbolic link',
      'skip itself: symbolic link',
      'skip out-dir: symbolic link',
      'skip out-file: symbolic link',
      'real/file',
      'skip to-dir: symbolic link',
      'skip to-file: symbolic link',
    ],
    inside: [
      'a',
      'unlisted dangling/: symbolic link leads nowhere: ENOENT',
      'unlisted itself/: symbolic link leads nowhere: ELOOP',
      `skip out-dir: ${OUT}`,
      `skip out-file: ${OUT}`,
      'real/file',
      'to-dir/file',
      'to-file',
    ],
    follow: [
      'a',
      'unlisted dangling/: symbolic link leads nowhere: ENOENT',
      'unlisted itself/: symbolic link leads nowhere: ELOOP',
      'out-dir/file',
      'out-file',
      'real/file',
      'to-dir/file',
      'to-file',
    ],
  } as const;
  test.each(['skip', 'inside', 'follow'] as const)('%s', (symlinks) => {
    expect(linesOf(target(planted(), { symlinks }))).toEqual(rows[symlinks]);
  });

  test('a followed file has the facts of what it leads to', () => {
    const root = tree('a');
    symlinkSync('a', `${root}/b`);
    const [a, b] = entriesOf(target(root, { symlinks: 'inside' }));
    expect(b).toMatchObject({ kind: 'file', path: 'b' });
    expect({ ...b, path: '' }).toEqual({ ...a, path: '' });
  });

  test('inside: a way out over two links is one, a neighbour of the same beginning as well', () => {
    const parent = tree('root/a', 'root-2/b');
    const root = `${parent}/root`;
    symlinkSync('../root-2', `${root}/neighbour`);
    symlinkSync('neighbour/b', `${root}/over-two`);
    expect(linesOf(target(root, { symlinks: 'inside' }))).toEqual([
      'a',
      `skip neighbour: ${OUT}`,
      `skip over-two: ${OUT}`,
    ]);
  });

  test('inside: a link within a source that is reached by a link stays within', () => {
    const parent = tree('root/a/x');
    symlinkSync('root', `${parent}/link`);
    symlinkSync('a', `${parent}/root/b`);
    const one = target(`${parent}/link`, { realRoot: `${parent}/root`, symlinks: 'inside' });
    expect(filesOf(one)).toEqual(['a/x', 'b/x']);
  });

  test.each(['inside', 'follow'] as const)('%s: loops end', (symlinks) => {
    const root = tree('a/b/file', 'c/file');
    symlinkSync('../..', `${root}/a/b/up`);
    symlinkSync('.', `${root}/self`);
    symlinkSync('../a', `${root}/c/over`);
    symlinkSync('../../c', `${root}/a/b/across`);
    const loop = 'symbolic link that leads back to a parent';
    expect(linesOf(target(root, { symlinks }))).toEqual([
      'a/b/across/file',
      `skip a/b/across/over/: ${loop}`,
      'a/b/file',
      `skip a/b/up/: ${loop}`,
      'c/file',
      `skip c/over/b/across/: ${loop}`,
      'c/over/b/file',
      `skip c/over/b/up/: ${loop}`,
      `skip self/: ${loop}`,
    ]);
  });
});

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
    expect(unlisted?.reason).toBe('cannot be listed: ENAMETOOLONG');
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
    expect(first).toMatchObject({ kind: 'unseen', reason: 'cannot be read: ENAMETOOLONG' });
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

describe('a tree that changes under the scan', () => {
  /** A scan of `a`, `b` and `d/x` that has told of `a`, with names then changed. */
  const after = (change: (root: string) => void): string[] => {
    const root = tree('a', 'b', 'd/x', 'z');
    const entries = scan(target(root));
    expect(entries.next().value).toMatchObject({ path: 'a' });
    change(root);
    return [...entries].map((entry) => (entry.kind === 'tick' ? 'tick' : `${entry.kind} ${entry.path}`));
  };
  const remove = (path: string): void => {
    rmSync(path, { recursive: true });
  };

  test('a file that vanished is not spoken of', () => {
    expect(
      after((root) => {
        remove(`${root}/b`);
      }),
    ).toEqual(['file d/x', 'file z']);
  });

  test('neither is a directory', () => {
    expect(
      after((root) => {
        remove(`${root}/d`);
      }),
    ).toEqual(['file b', 'file z']);
  });

  test('nor one that became a file', () => {
    const rest = after((root) => {
      remove(`${root}/d`);
      writeFileSync(`${root}/d`, '');
    });
    expect(rest).toEqual(['file b', 'file z']);
  });

  test('a file that became a directory or a link is passed over', () => {
    const rest = after((root) => {
      remove(`${root}/b`);
      mkdirSync(`${root}/b`);
      remove(`${root}/z`);
      symlinkSync('a', `${root}/z`);
    });
    expect(rest).toEqual(['skip b', 'file d/x', 'skip z']);
  });

  test('a directory is listed only when its turn comes', () => {
    const rest = after((root) => {
      plant(root, 'd/new', 'd/x0');
    });
    expect(rest).toEqual(['file b', 'file d/new', 'file d/x', 'file d/x0', 'file z']);
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

describe('a large directory', () => {
  test('of 20,000 entries lets others run while it is listed and put in order', () => {
    const root = tree('big/');
    for (let i = 0; i < 20_000; i++) writeFileSync(`${root}/big/${i}`, '');
    const count = (): { ticks: number; names: number } => {
      let [ticks, names] = [0, 0];
      for (const entry of scan(target(root))) {
        if (entry.kind !== 'tick') names += 1;
        else {
          ticks += 1;
          expect(names).toBe(0);
        }
      }
      return { ticks, names };
    };
    const plain = count();
    expect(plain.names).toBe(20_000);
    // 19 blocks are read, 20 are sorted, and merged in five rounds.
    expect(plain.ticks).toBeGreaterThanOrEqual(19 + 20 + 5 * 16);
    if (process.platform === 'darwin') return;
    // One name that is not valid UTF-8, and the directory is listed once more.
    writeFileSync(Buffer.concat([Buffer.from(`${root}/big/`), Buffer.from([0xff])]), '');
    const twice = count();
    expect(twice.names).toBe(20_001);
    expect(twice.ticks).toBeGreaterThanOrEqual(plain.ticks + 19);
  });

  test.skipIf(process.platform !== 'linux')('that is not read to its end is closed all the same', () => {
    const root = temporaryDirectory();
    for (let i = 0; i < 3_000; i++) writeFileSync(`${root}/${i}`, '');
    const open = (): string[] => readdirSync('/proc/self/fd');
    const before = open().length;
    const entries = scan(target(root));
    expect(entries.next().value).toEqual({ kind: 'tick' });
    expect(open().length).toBe(before + 1);
    entries.return();
    expect(open().length).toBe(before);
  });
});
