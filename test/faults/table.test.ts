import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COLUMNS } from './columns.ts';
import { describeTable } from './describe-table.ts';
import { FAULTS, type FaultName } from './faults.ts';
import { TABLE } from './table.ts';

const NAMES = Object.keys(FAULTS) as FaultName[];

describe('the table', () => {
  test.each(NAMES)('has no empty cell and no impossible one without a reason: %s', (fault) => {
    expect(Object.keys(TABLE[fault]).sort()).toEqual([...COLUMNS].sort());
    for (const column of COLUMNS) {
      const cell = TABLE[fault][column];
      if (cell.kind === 'impossible') expect(cell.why, column).toMatch(/\w+ \w+ \w+/u);
    }
  });

  test('has every fault strike somewhere, and every operation in some run', () => {
    for (const fault of NAMES)
      expect(COLUMNS.some((column) => TABLE[fault][column].kind !== 'impossible')).toBe(true);
    const idle = COLUMNS.filter((column) =>
      NAMES.every((fault) => TABLE[fault][column].kind === 'impossible'),
    );
    expect(idle).toEqual(['list-bots once', 'list-bots daemon']);
  });

  test('never lets a file count as in sync that is not, but where a store says it took it', () => {
    for (const fault of NAMES)
      for (const column of COLUMNS) {
        const cell = TABLE[fault][column];
        if (cell.kind !== 'file') continue;
        const isBelieved = column.startsWith('upload ') && fault.startsWith('200 with ');
        if (cell.stands === 'synced') expect(cell.platformHas === 'it').toBe(!isBelieved);
        expect(cell.exitCode === 0).toBe(cell.stands === 'synced');
      }
  });
});

test('README.md has the table in short', () => {
  const section = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
  const cells = (line: string): string => line.replaceAll(/ +/gu, ' ').replaceAll(/-+/gu, '-');
  const documented = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map(cells);
  expect(documented.slice(0, describeTable().length)).toEqual(describeTable().map(cells));
});
