import Table from 'cli-table3';
import { shown } from './output.ts';

const NO_BORDERS = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat('middle')
    .map((part) => [part, '']),
);

/**
 * Lines of aligned columns without borders, so that a pipe can cut them; wide characters count for what they take.
 *
 * @param numbers - the columns that are aligned to the right, by their place.
 */
export function renderTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  numbers: readonly number[] = [],
): string[] {
  const table = new Table({
    head: [...head],
    chars: NO_BORDERS,
    colAligns: head.map((_, column) => (numbers.includes(column) ? 'right' : 'left')),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
  });
  for (const row of rows) table.push(row.map(shown));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}
