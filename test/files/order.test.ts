import { rmSync, symlinkSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFilter } from '../../src/files/filter.ts';
import { bytewise, entriesOf, filesOf, plant, target, temporaryDirectory, tree } from './scan-fixture.ts';

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
