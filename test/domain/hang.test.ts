import { describe, expect, test } from 'vitest';
import { HangJudge, hangCheckMs } from '../../src/domain/hang.ts';

describe('a main thread', () => {
  const TIMEOUT_MS = 300_000;
  const checks = TIMEOUT_MS / hangCheckMs(TIMEOUT_MS);

  test('hangs when no check within the timeout saw a heartbeat', () => {
    const judge = new HangJudge(TIMEOUT_MS);
    expect(judge.check(7)).toBe(false);
    for (let n = 1; n < checks; n++) expect(judge.check(7)).toBe(false);
    expect(judge.check(7)).toBe(true);
  });

  test('that blocks for a while and goes on does not hang', () => {
    const judge = new HangJudge(TIMEOUT_MS);
    for (let round = 0; round < 10; round++)
      for (let n = 0; n < checks; n++) expect(judge.check(round)).toBe(false);
  });

  test('that never began to beat hangs as well', () => {
    const judge = new HangJudge(TIMEOUT_MS);
    const judged = Array.from({ length: checks + 1 }, () => judge.check(0));
    expect(judged.lastIndexOf(false)).toBe(checks - 1);
  });
});

test.each([
  [1000, 50],
  [60_000, 3000],
  [300_000, 5000],
  [86_400_000, 5000],
])('with a timeout of %d ms is checked every %d ms', (timeoutMs, checkMs) => {
  expect(hangCheckMs(timeoutMs)).toBe(checkMs);
});
