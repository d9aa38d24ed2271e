import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { scan } from '../../src/files/scan.ts';
import { plant, target, tree } from './scan-fixture.ts';

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
