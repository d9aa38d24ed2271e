import { widthOf } from './text-width.ts';

/** A terminal on which a line is kept up to date. */
export interface LiveTerminal {
  readonly write: (text: string) => void;
  readonly columns: () => number;
}

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
/** From the cursor to the end of the screen. */
const ERASE = '\u001b[J';

/**
 * The last line of a terminal, which is drawn again and again below what else is written. The cursor rests at its
 * beginning: a terminal that is made narrower may break the line into several, and all of them are erased from there.
 */
export class LiveLine {
  readonly #terminal: LiveTerminal;
  #text: string | null = null;

  constructor(terminal: LiveTerminal) {
    this.#terminal = terminal;
  }

  /** Whether there is a line now. */
  get isShown(): boolean {
    return this.#text !== null;
  }

  /** Shows a text, which must fit; where it does not it is left out, rather than filling the screen line by line. */
  show(text: string): void {
    const { write, columns } = this.#terminal;
    const fits = widthOf(text) < columns();
    write(`${this.#text === null ? HIDE_CURSOR : ''}${ERASE}${fits ? text : ''}\r`);
    this.#text = text;
  }

  /** Writes whole lines above it. */
  above(lines: string): void {
    const { write } = this.#terminal;
    const text = this.#text;
    if (text === null) write(lines);
    else {
      write(`${ERASE}${lines}`);
      this.show(text);
    }
  }

  /** Takes the line away. */
  clear(): void {
    if (this.#text === null) return;
    this.#text = null;
    this.#terminal.write(`${ERASE}${SHOW_CURSOR}`);
  }
}
