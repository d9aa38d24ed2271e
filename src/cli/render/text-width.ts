import stringWidth from 'string-width';

/** Made when a text is cut for the first time: it takes as long as a small module. */
let segmenter: Intl.Segmenter | null = null;

/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** The beginning of a text that fits into so many columns, with an ellipsis where something is missing. */
export function cutEnd(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  return `${fitting(graphemesOf(text), columns - 1).join('')}…`;
}

/** The end of a text that fits into so many columns, with an ellipsis where something is missing: of a path it tells most. */
export function cutStart(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  return `…${fitting(graphemesOf(text).reverse(), columns - 1)
    .reverse()
    .join('')}`;
}

/** A text in lines of at most so many columns, broken between words where it can be. */
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

/** The characters of a text as people see them. */
export function graphemesOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}
