import { expect, test } from 'vitest';
import { AttemptLimit } from '../../src/service/page-sessions.ts';

const TERMS = { burst: 3, everyMs: 1000, clients: 2 };

function limited(terms = TERMS) {
  const clock = { nowMs: 5000 };
  const limit = new AttemptLimit(terms, () => clock.nowMs);
  const attempt = (client: string): number => {
    const waitMs = limit.waitMs(client);
    if (waitMs === 0) limit.note(client);
    return waitMs;
  };
  return { clock, attempt };
}

test('a client may try a few times at once, then as often as told, and after a rest as at first', () => {
  const { clock, attempt } = limited();
  expect([1, 2, 3, 4].map(() => attempt('192.0.2.1'))).toEqual([0, 0, 0, 1000]);
  clock.nowMs += 400;
  expect(attempt('192.0.2.1')).toBe(600);
  clock.nowMs += 600;
  expect([attempt('192.0.2.1'), attempt('192.0.2.1')]).toEqual([0, 1000]);
  clock.nowMs += 60_000;
  expect([1, 2, 3, 4].map(() => attempt('192.0.2.1'))).toEqual([0, 0, 0, 1000]);
});

test.each([
  ['192.0.2.1', '192.0.2.1', 'one'],
  ['192.0.2.1', '192.0.2.2', 'two'],
  ['192.0.2.1', '::ffff:192.0.2.1', 'one'],
  ['2001:db8::1', '2001:db8::2', 'one'],
  ['2001:db8::1', '2001:DB8:0:0:ffff::', 'one'],
  ['2001:db8:0:1::1', '2001:db8:0:2::1', 'two'],
  ['2001:db8:1::', '2001:db8::1', 'two'],
  ['fe80::1%eth0', 'fe80::2', 'one'],
  ['::1', '::2', 'one'],
])('%s and %s are %s', (first, second, how) => {
  const { attempt } = limited({ ...TERMS, burst: 1 });
  expect(attempt(first)).toBe(0);
  expect(attempt(second)).toBe(how === 'one' ? 1000 : 0);
});

test('clients beyond those that are told apart share one share, until the others have rested', () => {
  const { clock, attempt } = limited({ ...TERMS, burst: 1 });
  expect(['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'].map(attempt)).toEqual([0, 0, 0, 1000]);
  clock.nowMs += 1000;
  expect(['192.0.2.3', '192.0.2.4', '192.0.2.4'].map(attempt)).toEqual([0, 0, 1000]);
});
