import { describe, expect, test } from 'vitest';
import { createLog } from '../../src/service/logger.ts';
import { run } from './fixture.ts';

/** What a process writes to standard error that logs one line of every level. */
async function logged(settings: { level: string; format: 'json' | 'pretty' }): Promise<string[]> {
  const running = run(
    'service/logger.ts',
    `import { writeSync } from 'node:fs';
     import { createLog } from './module.js';
     const log = createLog(${JSON.stringify(settings)}, (lines) => writeSync(2, lines));
     for (const level of ['debug', 'info', 'warn', 'error']) log[level]('a line of ' + level, { path: 'a/' + level });
     log.error('bare');
     console.log('result');
     process.exit(0);`,
  );
  expect(await running.firstLine).toBe('result');
  expect(await running.ended).toBe(0);
  return running
    .errors()
    .split('\n')
    .filter((line) => line !== '');
}

const LEVELS = ['debug', 'info', 'warn', 'error'];

describe('JSON lines', () => {
  test.each([
    ['trace', 0],
    ['debug', 0],
    ['info', 1],
    ['warn', 2],
    ['error', 3],
    ['silent', 4],
  ])('at level %s, to standard error, all of them although the process exits', async (level, from) => {
    const lines = (await logged({ level, format: 'json' })).map(
      (line) => JSON.parse(line) as Record<string, unknown>,
    );
    const expected = LEVELS.slice(from).map((name) => ({ msg: `a line of ${name}`, path: `a/${name}` }));
    if (level !== 'silent') expected.push({ msg: 'bare' } as never);
    expect(lines).toEqual(expected.map((line) => expect.objectContaining(line) as unknown));
    for (const { level: number } of lines) expect([20, 30, 40, 50]).toContain(number);
  });
});

test('pretty lines are for people', async () => {
  const lines = await logged({ level: 'info', format: 'pretty' });
  expect(lines[0]).toMatch(/^\[\d\d:\d\d:\d\d\] .*INFO.*: .*a line of info/u);
  expect(lines.join('\n')).toContain('a/warn');
  expect(lines.join('\n')).not.toContain(String(process.pid));
});

describe('the progress line', () => {
  test('steps aside for every line that is written, and for no other', () => {
    let asides = 0;
    const log = createLog({ level: 'warn', format: 'json' }, () => {
      asides += 1;
    });
    log.debug('x');
    log.info('x');
    expect(asides).toBe(0);
    log.warn('x');
    log.error('x');
    expect(asides).toBe(2);
  });
});
