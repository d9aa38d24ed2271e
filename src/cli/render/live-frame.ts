import { widthOf } from './text-layout.ts';

export interface FrameTerminal {
  readonly write: (text: string) => void;
}

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';

/** To the end of the row, and to the end of the screen. */
const ERASE_ROW = '\u001b[K';
const ERASE_BELOW = '\u001b[J';

/** Terminals that support mode 2026 show no partial update between these; others ignore them. */
const BEGIN_UPDATE = '\u001b[?2026h';
const END_UPDATE = '\u001b[?2026l';

/**
 * Rows of a terminal that are redrawn in place, below earlier output. Each frame is a single write of the rows that
 * changed. The cursor stays at the beginning of the first row: a narrower terminal may wrap rows, and all of them
 * are erased from there. The last frame remains.
 */
export class LiveFrame {
  readonly #terminal: FrameTerminal;
  /** `null` before the first frame. */
  #rows: readonly string[] | null = null;
  #isIntact = true;

  constructor(terminal: FrameTerminal) {
    this.#terminal = terminal;
  }

  /** Rows must be narrower than the terminal, and not more than it has. */
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

  /** Redraws all rows next time, since the terminal may have changed. */
  spoil(): void {
    this.#isIntact = false;
  }

  /** Leaves the rows where they are; output continues below them. */
  leave(): void {
    if (this.#rows === null) return;
    const down = this.#rows.length - 1;
    this.#terminal.write(`${down > 0 ? `\u001b[${down}B` : ''}\r\n${SHOW_CURSOR}`);
    this.#rows = null;
    this.#isIntact = true;
  }
}

export interface LiveTerminal {
  readonly write: (text: string) => void;
  readonly columns: () => number;
}

/** To the end of the screen. */
const ERASE = '\u001b[J';

/**
 * The last line of a terminal, redrawn in place below other output. The cursor stays at its beginning: a narrower
 * terminal may wrap the line, and all its rows are erased from there.
 */
export class LiveLine {
  readonly #terminal: LiveTerminal;
  #text: string | null = null;

  constructor(terminal: LiveTerminal) {
    this.#terminal = terminal;
  }

  get isShown(): boolean {
    return this.#text !== null;
  }

  /** A text that does not fit is not shown, since it would fill the screen line by line. */
  show(text: string): void {
    const { write, columns } = this.#terminal;
    const fits = widthOf(text) < columns();
    write(`${this.#text === null ? HIDE_CURSOR : ''}${ERASE}${fits ? text : ''}\r`);
    this.#text = text;
  }

  /** Writes whole lines above the live line. */
  above(lines: string): void {
    const { write } = this.#terminal;
    const text = this.#text;
    if (text === null) write(lines);
    else {
      write(`${ERASE}${lines}`);
      this.show(text);
    }
  }

  /** Erases the line. */
  clear(): void {
    if (this.#text === null) return;
    this.#text = null;
    this.#terminal.write(`${ERASE}${SHOW_CURSOR}`);
  }
}
