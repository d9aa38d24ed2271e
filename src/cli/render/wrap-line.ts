import { graphemesOf, widthOf } from './text-width.ts';

/** What sets a colour, as `Paint` writes it. */
const COLOUR = /(\u001b\[\d+m)/u;
const DEFAULT_COLOUR = '\u001b[39m';

/** What continues a line stands so much further right, columns. */
const HANGING = 2;

/** More than this part of the width is not given to the indent. */
const MOST_INDENT = 0.5;

/**
 * A line in rows of at most so many columns, broken between words where it can be. What continues it is indented, and each
 * row sets and ends its colour itself, so that it can be written without the others.
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
