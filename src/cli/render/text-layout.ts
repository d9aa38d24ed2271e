import Table from 'cli-table3';
import stringWidth from 'string-width';
import { print, shown } from './output.ts';

/** Created on first use: that takes as long as loading a small module. */
let segmenter: Intl.Segmenter | null = null;

/** Returns the width of a text in columns. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** Returns the beginning of a text that fits, with an ellipsis if it is cut. */
export function cutEnd(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  return `${fitting(graphemesOf(text), columns - 1).join('')}…`;
}

/** Returns the end of a text that fits, with an ellipsis if it is cut: the most informative part of a path. */
export function cutStart(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  return `…${fitting(graphemesOf(text).reverse(), columns - 1)
    .reverse()
    .join('')}`;
}

/** The narrowest terminal for which lines are wrapped, in columns. */
const LEAST_COLUMNS = 60;

/** Prints lines. On a terminal it wraps them between words, except those with a command, which people copy. */
export function printLines(lines: readonly string[]): void {
  const { isTTY, columns } = process.stdout;
  const isWrapped = isTTY && columns >= LEAST_COLUMNS;
  const rows = lines.flatMap((line) =>
    isWrapped && !/\b(?:run|with): /iu.test(line) ? wrapLine(line, columns) : [line],
  );
  if (rows.length > 0) print(rows.join('\n'));
}

/** Wraps a text between words. */
export function wrapWords(text: string, columns: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && widthOf(longer) > columns) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].join('\n');
}

function fitting(parts: readonly string[], columns: number): string[] {
  const kept: string[] = [];
  let width = 0;
  for (const part of parts) {
    width += widthOf(part);
    if (width > columns) break;
    kept.push(part);
  }
  return kept;
}

/** Returns the characters as people see them. */
function graphemesOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}

/** The codes that `Paint` writes. */
const COLOUR = /(\u001b\[\d+m)/u;
const DEFAULT_COLOUR = '\u001b[39m';

/** Extra indent of continuation rows, in columns. */
const HANGING = 2;

/** Maximum indent, as a part of the width. */
const MOST_INDENT = 0.5;

/**
 * Wraps a line between words. Continuation rows are indented, and each row sets and resets its own colour, so that
 * it can be written alone.
 */
export function wrapLine(line: string, columns: number): string[] {
  if (widthOf(line) <= columns) return [line];
  const ownIndent = /^ */u.exec(line)?.[0].length ?? 0;
  const indent = ' '.repeat(Math.min(ownIndent + HANGING, Math.floor(columns * MOST_INDENT)));
  const rows: string[] = [];
  let row = '';
  let width = 0;
  let colour = '';
  const breakRow = (): void => {
    const text = row.replace(/ +$/u, '');
    rows.push(colour === '' ? text : `${text}${DEFAULT_COLOUR}`);
    row = `${indent}${colour}`;
    width = indent.length;
  };
  for (const part of line.split(COLOUR)) {
    if (COLOUR.test(part)) {
      colour = part === DEFAULT_COLOUR ? '' : part;
      row += part;
      continue;
    }
    for (const piece of part.split(/( +)/u)) {
      if (width + widthOf(piece) <= columns) {
        row += piece;
        width += widthOf(piece);
        continue;
      }
      if (piece.startsWith(' ')) {
        breakRow();
        continue;
      }
      if (width > indent.length) breakRow();
      for (const grapheme of graphemesOf(piece)) {
        const own = widthOf(grapheme);
        if (width + own > columns && width > indent.length) breakRow();
        row += grapheme;
        width += own;
      }
    }
  }
  return width > indent.length ? [...rows, row] : rows;
}

const NO_BORDERS = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat('middle')
    .map((part) => [part, '']),
);

/**
 * Renders aligned columns without borders, so that other programs can cut them; considers wide characters.
 *
 * @param numbers - indexes of right-aligned columns.
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
