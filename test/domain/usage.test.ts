import { expect, test } from 'vitest';
import {
  AdditionCount,
  excessesOf,
  type Additions,
  type Counted,
  type Usages,
} from '../../src/domain/usage.ts';

const plain = (sizeBytes: number): Counted => ({ sizeBytes, isIndexed: false });
const indexed = (sizeBytes: number): Counted => ({ sizeBytes, isIndexed: true });

test.each<[string, [Counted, Counted | null][], Additions]>([
  ['nothing', [], { storage: 0, vectorStorage: 0, indexedFiles: 0, largestFile: 0 }],
  [
    'new files',
    [
      [plain(5), null],
      [indexed(7), null],
    ],
    { storage: 12, vectorStorage: 7, indexedFiles: 1, largestFile: 7 },
  ],
  [
    'the same again',
    [[indexed(7), indexed(7)]],
    { storage: 0, vectorStorage: 0, indexedFiles: 0, largestFile: 7 },
  ],
  [
    'one that grew',
    [[indexed(9), indexed(7)]],
    { storage: 2, vectorStorage: 2, indexedFiles: 0, largestFile: 9 },
  ],
  [
    'one that shrank',
    [[plain(1), plain(7)]],
    { storage: -6, vectorStorage: 0, indexedFiles: 0, largestFile: 1 },
  ],
  [
    'one that is indexed from now on',
    [[indexed(5), plain(4)]],
    { storage: 1, vectorStorage: 5, indexedFiles: 1, largestFile: 5 },
  ],
  [
    'one that is not indexed any more',
    [[plain(5), indexed(4)]],
    { storage: 1, vectorStorage: -4, indexedFiles: -1, largestFile: 5 },
  ],
])('what %s add', (_, files, additions) => {
  const count = new AdditionCount();
  for (const [file, before] of files) count.add(file, before);
  expect(count.additions).toEqual(additions);
});

const USAGES: Usages = {
  storage: { used: 90, allowed: 100 },
  vectorStorage: { used: 40, allowed: 50 },
  indexedFiles: { used: 6, allowed: 7 },
  largestFile: { used: 30, allowed: 60 },
};
const NONE: Additions = { storage: 0, vectorStorage: 0, indexedFiles: 0, largestFile: 0 };

test.each<[string, Usages, Additions, string[]]>([
  ['what just fits', USAGES, { storage: 10, vectorStorage: 10, indexedFiles: 1, largestFile: 60 }, []],
  [
    'one too many of each',
    USAGES,
    { storage: 11, vectorStorage: 11, indexedFiles: 2, largestFile: 61 },
    ['storage', 'vectorStorage', 'indexedFiles', 'largestFile'],
  ],
  ['nothing, where all is used up', { ...USAGES, storage: { used: 200, allowed: 100 } }, NONE, []],
  [
    'less, where all is used up',
    { ...USAGES, storage: { used: 200, allowed: 100 } },
    { ...NONE, storage: -5 },
    [],
  ],
  ['more, where nothing is told', { ...USAGES, storage: null }, { ...NONE, storage: 1e9 }, []],
  [
    'more, where no limit is told',
    { ...USAGES, storage: { used: 5, allowed: null } },
    { ...NONE, storage: 1e9 },
    [],
  ],
])('%s', (_, usages, additions, quotas) => {
  expect(excessesOf(usages, additions).map(({ quota }) => quota)).toEqual(quotas);
});
