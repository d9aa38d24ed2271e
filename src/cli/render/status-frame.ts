import { cutEnd } from './text-width.ts';
import { wrapLine } from './wrap-line.ts';
import { counted } from '../../words/quantity.ts';

/** What a frame shows, already painted. */
export interface FrameText {
  /** One row above all else, cut where it does not fit; left out where there is little room. */
  readonly head: string;
  readonly lines: readonly string[];
}

/** How much room there is. */
export interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

/** A terminal lower than this has no room for the head. */
const LEAST_ROWS_WITH_HEAD = 6;

/**
 * The rows of a frame that fits: lines are broken between words. Where there is little room empty rows go first; then what
 * has none below is counted in the last row.
 */
export function statusFrame({ head, lines }: FrameText, { columns, rows }: FrameSize): string[] {
  // The last column is left free: some terminals begin a new row as soon as it is written.
  const width = Math.max(1, columns - 1);
  const all = lines.flatMap((line) => wrapLine(line, width));
  const hasHead = rows >= LEAST_ROWS_WITH_HEAD;
  const room = hasHead ? rows - 2 : Math.max(1, rows);
  const body = all.length > room ? all.filter((row) => row !== '') : all;
  const isCut = body.length > room;
  const kept = isCut ? body.slice(0, Math.max(1, room - 1)) : body;
  const more =
    isCut && room > 1 ? [cutEnd(`… ${counted(body.length - kept.length, 'more line')}`, width)] : [];
  return [...(hasHead ? [...wrapLine(head, width).slice(0, 1), ''] : []), ...kept, ...more];
}
