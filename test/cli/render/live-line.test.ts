import { expect, test } from 'vitest';
import { LiveLine } from '../../../src/cli/render/live-frame.ts';

/** A terminal that breaks its lines anew when it is made narrower, as tmux does. */
class Screen {
  columns = 80;
  /** What is there, with the cursor at an index of it; lines that only the width breaks are one. */
  #text = '';
  #cursor = 0;

  write(text: string): void {
    for (const part of text.split(/(\u001b\[[?\d]*[A-Za-z]|[\r\n])/u)) {
      if (part === '\u001b[J') this.#text = this.#text.slice(0, this.#cursor);
      else if (part === '\r') this.#cursor = this.#text.lastIndexOf('\n', this.#cursor - 1) + 1;
      else if (part === '\n' || !part.startsWith('\u001b')) {
        this.#text = this.#text.slice(0, this.#cursor) + part + this.#text.slice(this.#cursor + part.length);
        this.#cursor += part.length;
      }
    }
  }

  get lines(): string[] {
    return this.#text
      .split('\n')
      .flatMap((line) => line.match(new RegExp(`.{1,${this.columns}}`, 'gu')) ?? ['']);
  }
}

function liveOn(screen: Screen): LiveLine {
  return new LiveLine({
    write: (text) => {
      screen.write(text);
    },
    columns: () => screen.columns,
  });
}

test('lines are written whole above it, and nothing of it is left', () => {
  const screen = new Screen();
  const line = liveOn(screen);
  line.above('before\n');
  line.show('10%');
  line.above('Stopping: a message that is far longer than the line.\n');
  expect(screen.lines).toEqual(['before', 'Stopping: a message that is far longer than the line.', '10%']);
  line.show('9%');
  line.clear();
  line.above('after\n');
  expect(screen.lines).toEqual([
    'before',
    'Stopping: a message that is far longer than the line.',
    'after',
    '',
  ]);
});

test('a terminal that is made narrower and wider keeps one line', () => {
  const screen = new Screen();
  const line = liveOn(screen);
  line.above('before\n');
  line.show('x'.repeat(79));
  screen.columns = 30;
  expect(screen.lines).toHaveLength(4);
  line.show('y'.repeat(29));
  expect(screen.lines).toEqual(['before', 'y'.repeat(29)]);
  screen.columns = 200;
  line.show('z'.repeat(199));
  expect(screen.lines).toEqual(['before', 'z'.repeat(199)]);
});

test('what does not fit is left out, for it would fill the screen', () => {
  const screen = new Screen();
  const line = liveOn(screen);
  line.show('x'.repeat(80));
  expect(screen.lines).toEqual(['']);
});

test('the cursor is hidden while it is there, and shown again', () => {
  const written: string[] = [];
  const line = new LiveLine({ write: (text) => written.push(text), columns: () => 80 });
  line.show('a');
  line.show('b');
  line.clear();
  line.clear();
  expect(written.join('').match(/\u001b\[\?25[hl]/gu)).toEqual(['\u001b[?25l', '\u001b[?25h']);
});
