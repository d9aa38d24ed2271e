import { expect, test } from 'vitest';
import { LiveFrame } from '../../../src/cli/render/live-frame.ts';

/** A terminal of some rows, which scrolls; it keeps what was written to it. */
class Screen {
  readonly height: number;
  readonly writes: string[] = [];
  rows: string[] = [''];
  #row = 0;
  #column = 0;

  constructor(height: number) {
    this.height = height;
  }

  write(text: string): void {
    this.writes.push(text);
    for (const part of text.split(/(\u001b\[[?\d]*[A-Za-z]|[\r\n])/u)) this.#take(part);
  }

  /** What can be seen. */
  get seen(): string[] {
    return this.rows.slice(-this.height).map((row) => row.trimEnd());
  }

  #take(part: string): void {
    const [, count = '1'] = /^\u001b\[(\d+)[AB]$/u.exec(part) ?? [];
    const top = Math.max(0, this.rows.length - this.height);
    if (part === '\r') this.#column = 0;
    else if (part === '\n') {
      this.#row += 1;
      if (this.#row === this.rows.length) this.rows.push('');
    } else if (part.endsWith('A') && part.startsWith('\u001b'))
      this.#row = Math.max(top, this.#row - Number(count));
    else if (part.endsWith('B') && part.startsWith('\u001b'))
      this.#row = Math.min(this.rows.length - 1, this.#row + Number(count));
    else if (part === '\u001b[K') this.#set(this.#text.slice(0, this.#column));
    else if (part === '\u001b[J') {
      this.#set(this.#text.slice(0, this.#column));
      for (let row = this.#row + 1; row < this.rows.length; row++) this.rows[row] = '';
    } else if (!part.startsWith('\u001b')) {
      this.#set(
        this.#text.slice(0, this.#column).padEnd(this.#column) +
          part +
          this.#text.slice(this.#column + part.length),
      );
      this.#column += part.length;
    }
  }

  get #text(): string {
    return this.rows[this.#row] ?? '';
  }

  #set(text: string): void {
    this.rows[this.#row] = text;
  }
}

function frameOn(screen: Screen): LiveFrame {
  return new LiveFrame({
    write: (text) => {
      screen.write(text);
    },
  });
}

test('a frame is one write, of the rows that changed, and the cursor is hidden', () => {
  const screen = new Screen(10);
  screen.write('$ botsync\r\n');
  const frame = frameOn(screen);
  frame.show(['one', 'two', 'three']);
  expect(screen.seen).toEqual(['$ botsync', 'one', 'two', 'three']);
  expect(screen.writes.at(-1)).toContain('\u001b[?25l');
  frame.show(['one', '2', 'three']);
  expect(screen.seen).toEqual(['$ botsync', 'one', '2', 'three']);
  frame.show(['one', '2', 'three']);
  expect(screen.writes).toHaveLength(3);
  expect(screen.writes.at(-1)).toBe('\u001b[?2026h\r\n2\u001b[K\r\n\u001b[2A\r\u001b[?2026l');
});

test('it grows at the end of the screen, where that scrolls, and shrinks without a rest', () => {
  const screen = new Screen(4);
  screen.write('a\r\nb\r\nc\r\n');
  const frame = frameOn(screen);
  frame.show(['one']);
  frame.show(['one', 'two', 'three']);
  expect(screen.seen).toEqual(['c', 'one', 'two', 'three']);
  frame.show(['1', '2', '3', '4']);
  expect(screen.seen).toEqual(['1', '2', '3', '4']);
  frame.show(['1', 'two']);
  expect(screen.seen).toEqual(['1', 'two', '', '']);
  frame.show(['only']);
  frame.show(['only', 'more']);
  expect(screen.seen).toEqual(['only', 'more', '', '']);
});

test('after a resize all of it is drawn again, and nothing of what was there is left', () => {
  const screen = new Screen(6);
  const frame = frameOn(screen);
  frame.show(['one two', 'three four', 'five']);
  screen.rows = ['one', 'two', 'three', 'four', 'five', ''];
  frame.spoil();
  frame.show(['1', '2']);
  expect(screen.seen).toEqual(['1', '2', '', '', '', '']);
});

test('in the end the last frame stays, and the cursor is below it', () => {
  const screen = new Screen(6);
  const frame = frameOn(screen);
  frame.show(['one', 'two']);
  frame.leave();
  frame.leave();
  screen.write('$ ');
  expect(screen.seen).toEqual(['one', 'two', '$']);
  expect(screen.writes.join('').match(/\u001b\[\?25[hl]/gu)).toEqual(['\u001b[?25l', '\u001b[?25h']);
});
