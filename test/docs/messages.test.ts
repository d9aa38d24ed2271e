import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './pages.ts';

/** The lines of a source file that are not comments. */
function codeOf(source: string): string {
  return source
    .replaceAll(/\/\*\*?[^]*?\*\//gu, '')
    .split('\n')
    .filter((line) => !line.trim().startsWith('//'))
    .join('\n');
}

/** Whether a line of code has a message as a page quotes it, where `…` is what differs. */
function isIn(code: string, message: string): boolean {
  const parts = message.split('…').map((part) => part.trim());
  // The order of the cheap check does not matter; it spares most files the search.
  if (!parts.every((part) => code.includes(part))) return false;
  const pattern = parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/gu, '\\$&')).join('.*');
  return new RegExp(pattern, 'u').test(code);
}

const page = readFileSync(join(ROOT, 'docs/TROUBLESHOOTING.md'), 'utf8');
const messages = [...page.matchAll(/^\*\*`(.+)`\*\*$/gmu)].map(([, message = '']) => message);
const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.startsWith('emulator'))
  .map((name) => codeOf(readFileSync(join(ROOT, 'src', name), 'utf8')));

test('docs/TROUBLESHOOTING.md quotes messages', () => {
  expect(messages.length).toBeGreaterThan(40);
  expect(new Set(messages).size).toBe(messages.length);
});

test.each(messages)('botsync says: %s', (message) => {
  // A quotation of hardly more than `…` would match anything.
  expect(message.replaceAll('…', '').trim().length).toBeGreaterThan(12);
  expect(sources.some((code) => isIn(code, message))).toBe(true);
});

test('a quotation is looked for in code, in its order', () => {
  const code = codeOf('// is held by comments\nthrow new Error(`${subject} is held by ${holder}; wait`);');
  expect(isIn(code, '… is held by …; wait')).toBe(true);
  expect(isIn(code, '… is held by …; stop')).toBe(false);
  expect(isIn(code, 'wait … is held by')).toBe(false);
  expect(isIn(code, 'is held by comments')).toBe(false);
});
