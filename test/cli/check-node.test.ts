import { expect, test } from 'vitest';
import { checkNode } from '../../src/cli/doctor/check-config.ts';

test.each([
  ['20.20.2', '2026-04-30T12:00:00Z', 'ok', '20.20.2, supported until 2026-04-30'],
  [
    '20.20.2',
    '2026-05-01T00:00:00Z',
    'warn',
    '20.20.2 has had no security fixes from the Node project since 2026-04-30',
  ],
  ['24.21.0', '2026-11-22T00:00:00Z', 'ok', '24.21.0, supported until 2028-04-30'],
  ['30.0.0', '2030-01-01T00:00:00Z', 'ok', '30.0.0'],
])('Node %s on %s: %s', (version, day, status, message) => {
  const [found] = checkNode(version, Date.parse(day));
  expect(found?.finding).toMatchObject({ check: 'node', status, message });
  expect(found?.exitCode).toBe(0);
});

test('names the versions that will do', () => {
  const [found] = checkNode('20.20.2', Date.parse('2026-11-22T00:00:00Z'));
  expect(found?.finding.fix).toBe(
    'install Node 22 or 24 or 26, unless your distribution still maintains this one',
  );
});
