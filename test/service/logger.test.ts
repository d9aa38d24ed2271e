import { describe, expect, test } from 'vitest';
import { inColour } from '../../src/service/colour.ts';
import { createLog, type LogSettings } from '../../src/service/logger.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** What is written when one line of every level is logged: all of it at once, as the process may exit next. */
function logged(settings: LogSettings): string[] {
  const lines: string[] = [];
  const log = createLog(settings, (text) => lines.push(text));
  for (const level of LEVELS) log[level](`a line of ${level}`, { path: `a/${level}` });
  log.error('bare');
  return lines;
}

describe('JSON lines', () => {
  test.each([
    ['trace', 0],
    ['debug', 0],
    ['info', 1],
    ['warn', 2],
    ['error', 3],
    ['silent', 4],
  ] as const)('at level %s', (level, from) => {
    const lines = logged({ level, format: 'json' }).map(
      (line) => JSON.parse(line) as Record<string, unknown>,
    );
    const expected = LEVELS.slice(from).map((name) => ({ msg: `a line of ${name}`, path: `a/${name}` }));
    if (level !== 'silent') expected.push({ msg: 'bare' } as never);
    expect(lines).toEqual(expected.map((line) => expect.objectContaining(line) as unknown));
    for (const { level: number } of lines) expect([20, 30, 40, 50]).toContain(number);
  });

  test('have no control character that JSON leaves alone, and keep what they mean', () => {
    const lines: string[] = [];
    createLog({ level: 'info', format: 'json' }, (text) => lines.push(text)).info('a\u009b31mb');
    expect(lines[0]).not.toContain('\u009b');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'a\u009b31mb' });
  });
});

describe('lines for people', () => {
  const pretty = { level: 'info', format: 'pretty' } as const;

  test('begin with date and time, and tell what was logged beside the message', () => {
    const lines = logged(pretty);
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}a line of info \(path: a\/info\)\n$/u);
    expect(lines[1]).toMatch(/ {2}warning: a line of warn \(path: a\/warn\)\n$/u);
    expect(lines[2]).toMatch(/ {2}error: a line of error /u);
    expect(lines).toHaveLength(4);
  });

  test('do without the time where it is not wanted', () => {
    expect(logged({ ...pretty, isTimed: false })).toEqual([
      'a line of info (path: a/info)\n',
      'warning: a line of warn (path: a/warn)\n',
      'error: a line of error (path: a/error)\n',
      'error: bare\n',
    ]);
  });

  test('show the level, or the head of styled words, in colour; no name commands the terminal or begins a line', () => {
    const lines: string[] = [];
    const log = createLog({ ...pretty, isTimed: false, paint: inColour }, (text) => lines.push(text));
    log.warn('a name: \u001b[31m');
    log.info('plain', { names: ['a\nb', 'c'], none: null });
    log.say('info', { style: 'ok', head: 'uploaded', rest: ' a\u001b\nb' }, { source: 'docs' });
    expect(lines).toEqual([
      '\u001b[33mwarning:\u001b[39m a name: \\u001b[31m\n',
      'plain (names: a\\u000ab, c)\n',
      '\u001b[32muploaded\u001b[39m a\\u001b\\u000ab\n',
    ]);
  });

  test('styled words are one message for programs, beside the fields', () => {
    const lines: string[] = [];
    const log = createLog({ level: 'info', format: 'json' }, (text) => lines.push(text));
    log.say('info', { style: 'ok', head: 'uploaded', rest: ' docs/a' }, { source: 'docs' });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'uploaded docs/a', source: 'docs' });
  });
});

test('what is not important enough is not written', () => {
  expect(logged({ level: 'silent', format: 'pretty' })).toEqual([]);
});
