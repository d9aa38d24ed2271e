import { expect, test } from 'vitest';
import { Placeholders, type Known } from './placeholders.ts';

const known: Known = {
  texts: [
    ['/tmp/x', 'directory'],
    ['/tmp/x/dist', 'dist'],
  ],
  pids: [42],
  hostname: 'vm',
  fromMs: Date.parse('2026-11-22T08:00:00.000Z'),
  toMs: Date.parse('2026-11-22T08:00:09.000Z'),
};

test.each([
  ['/tmp/x/docs and /tmp/x/dist', '<directory>/docs and <dist>'],
  ['held by process 42 on vm, not by process 43', 'held by process <pid> on <host>, not by process 43'],
  ['{"pid":42,"host":"vm"} {"pid":43,"host":"vmx"}', '{"pid":<pid>,"host":"<host>"} {"pid":43,"host":"vmx"}'],
  ['2026-11-22T08:00:05.123Z, 2026-11-22 08:00Z, 2026-11-22T080005.123Z', '<now>, <now>, <now>'],
  ['2026-12-22T08:00:00.000Z, 2026-11-12T08:00:00Z', '<now+30d>, <now-10d>'],
  [
    '2026-11-22T09:00:00.000Z, 2026-01-01T00:00:00.000Z',
    '2026-11-22T09:00:00.000Z, 2026-01-01T00:00:00.000Z',
  ],
  [
    'conv_0123456789, msg_0123456789, conv_abcdefghij, conv_0123456789',
    '<conv-1>, <msg-1>, <conv-2>, <conv-1>',
  ],
  ['"nextPass":"2026-11-22T08:15:00.000Z","failedAgain":null', '"nextPass":<soon>,"failedAgain":null'],
  ['"durationMs":17,"bytes":17', '"durationMs":<ms>,"bytes":17'],
  ['user_default, 1e4f41ce01e4a53d', 'user_default, 1e4f41ce01e4a53d'],
])('%s is recorded as %s', (text, recorded) => {
  expect(new Placeholders().apply(text, known)).toBe(recorded);
});
