import { symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { entriesOf, filesOf, linesOf, target, tree } from './scan-fixture.ts';

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
