import { execFileSync } from 'node:child_process';
import { linkSync, lstatSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createFilter } from '../../src/files/filter.ts';
import { scan } from '../../src/files/scan.ts';
import { descriptorsBelow } from '../descriptors.ts';
import { entriesOf, filesOf, linesOf, target, temporaryDirectory, tree } from './scan-fixture.ts';

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
      'skip link: symbolic link to something that is not a regular file',
      'skip zero: symbolic link to something that is not a regular file',
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
    const entries = scan(target(root));
    expect(entries.next().value).toEqual({ kind: 'tick' });
    expect(descriptorsBelow(root)).toHaveLength(1);
    entries.return();
    expect(descriptorsBelow(root)).toEqual([]);
  });
});
