/** A part of a terminal that is kept up to date: rows that are drawn again in place. */
export interface FrameTerminal {
  readonly write: (text: string) => void;
}

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
/** From the cursor to the end of the row, and of the screen. */
const ERASE_ROW = '\u001b[K';
const ERASE_BELOW = '\u001b[J';
/** Between these a terminal that knows them (mode 2026) shows nothing half done; others ignore them. */
const BEGIN_UPDATE = '\u001b[?2026h';
const END_UPDATE = '\u001b[?2026l';

/**
 * Rows of a terminal that are drawn again and again, below what was written before. A frame is one write, of the rows that
 * changed. The cursor rests at the beginning of the first row: a terminal that is made narrower may break rows into several,
 * and all of them are erased from there. What was shown last stays there in the end.
 */
export class LiveFrame {
  readonly #terminal: FrameTerminal;
  /** What is there; `null`: nothing yet. */
  #rows: readonly string[] | null = null;
  #isIntact = true;

  constructor(terminal: FrameTerminal) {
    this.#terminal = terminal;
  }

  /** Shows rows, which must fit into the terminal: each is narrower than it, and they are no more than it is high. */
  show(rows: readonly string[]): void {
    const before = this.#isIntact ? this.#rows : [];
    if (before !== null && before.length === rows.length && rows.every((row, at) => row === before[at]))
      return;
    const parts = rows.map((row, at) => (row === before?.[at] ? '' : `${row}${ERASE_ROW}`));
    const isShorter = before !== null && before.length > rows.length;
    const up = isShorter ? rows.length : rows.length - 1;
    this.#terminal.write(
      [
        BEGIN_UPDATE,
        this.#rows === null ? HIDE_CURSOR : '',
        this.#isIntact ? '' : ERASE_BELOW,
        parts.join('\r\n'),
        isShorter ? `\r\n${ERASE_BELOW}` : '',
        up > 0 ? `\u001b[${up}A` : '',
        `\r${END_UPDATE}`,
      ].join(''),
    );
    this.#rows = rows;
    this.#isIntact = true;
  }

  /** The terminal may show something else there now: the next rows are all drawn. */
  spoil(): void {
    this.#isIntact = false;
  }

  /** Leaves the rows where they are and goes on below them. */
  leave(): void {
    if (this.#rows === null) return;
    const down = this.#rows.length - 1;
    this.#terminal.write(`${down > 0 ? `\u001b[${down}B` : ''}\r\n${SHOW_CURSOR}`);
    this.#rows = null;
    this.#isIntact = true;
  }
}
