import { expect, test } from 'vitest';
import { parseConfig, type ConfigResult } from '../../src/config/load-config.ts';

function problemsOf(result: ConfigResult): readonly string[] {
  return result.kind === 'invalid' ? result.problems.map(({ message }) => message) : [];
}

test('of any number of mistakes a thousand are told', () => {
  const names = Array.from({ length: 40_000 }, (_, n) => `"${n}":1`).join(',');
  const problems = problemsOf(parseConfig(`{${names}}`, 'botsync.config.json'));
  expect(problems).toHaveLength(1_000);
});

test('a text that no configuration is as long as is not looked at', () => {
  const problems = problemsOf(parseConfig(`{${' '.repeat(500_000)}}`, 'botsync.config.json'));
  expect(problems).toEqual([expect.stringContaining('has more than 500,000 characters')]);
});

test('a pattern longer than what can be compiled is told', () => {
  const config = { platform: { botId: 'b' }, sources: [{ directory: './d' }] };
  const rules = [{ match: 'a'.repeat(65_535) }];
  const problems = problemsOf(parseConfig(JSON.stringify({ ...config, rules }), 'botsync.config.json'));
  expect(problems).toEqual([expect.stringContaining('is longer than 1000 characters')]);
});
