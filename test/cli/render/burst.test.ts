import { expect, test } from 'vitest';
import { Burst, type BurstNews } from '../../../src/cli/render/burst.ts';
import type { FileEvent } from '../../../src/domain/report.ts';
import { textOf } from '../../../src/service/logger.ts';

const QUIET = { unconfirmed: 0, isHindered: false };
const done = (path: string): FileEvent => ({
  ...{ kind: 'upload', source: 'docs', path, key: path, reason: 'changed', outcome: 'done' },
});
const failed = (path: string): FileEvent => ({ ...done(path), outcome: 'failed', error: 'no' });
const text = (news: BurstNews | null): string | null => (news === null ? null : textOf(news.words));

function burstAt(): { burst: Burst; pass: (ms: number) => void } {
  let nowMs = 0;
  return { burst: new Burst(() => nowMs), pass: (ms) => (nowMs += ms) };
}

test('one line sums up many changes, once all is quiet', () => {
  const { burst, pass } = burstAt();
  expect(burst.isPending).toBe(false);
  for (const path of ['a', 'b', 'c']) {
    pass(500);
    burst.note(done(path), { bytes: 1000, durationMs: 200 });
  }
  burst.note({ ...done('d'), kind: 'remove' });
  expect(burst.news(QUIET, false)).toBeNull();
  pass(1000);
  expect(burst.news(QUIET, true)).toBeNull();
  const news = burst.news(QUIET, false);
  expect(text(news)).toBe('In sync: 3 uploaded, 1 removed, 3 kB (1.2 s)');
  expect(news).toMatchObject({
    level: 'info',
    fields: { uploaded: 3, removed: 1, bytes: 3000, durationMs: 1200 },
  });
  expect(burst.isPending).toBe(false);
  expect(burst.news(QUIET, false)).toBeNull();
});

test('what an outage lasted is not what the sending took', () => {
  const { burst, pass } = burstAt();
  burst.note(done('a'), { bytes: 1, durationMs: 400 });
  pass(60_000);
  burst.note(failed('b'));
  pass(1_200_000);
  burst.note(done('b'), { bytes: 1, durationMs: 300 });
  pass(500);
  burst.note(done('c'), { bytes: 1, durationMs: 100 });
  pass(2000);
  const news = burst.news(QUIET, false);
  expect(text(news)).toBe('In sync again: 3 uploaded, 3 B (1.2 s)');
  expect(news?.fields).toMatchObject({ durationMs: 1200 });
});

test('nothing is in sync while a file is not, and it is again once that one is', () => {
  const { burst, pass } = burstAt();
  burst.note(done('a'), { bytes: 1, durationMs: 0 });
  burst.note(failed('b'));
  pass(2000);
  const news = burst.news(QUIET, false);
  expect(text(news)).toBe('NOT IN SYNC: 1 uploaded, 1 B (0.0 s); 1 problem left; see botsync status');
  expect(news?.level).toBe('warn');
  burst.note(done('b'), { bytes: 1, durationMs: 0 });
  pass(2000);
  expect(text(burst.news(QUIET, false))).toMatch(/^In sync again/u);
});

test('a halted source, or a platform that refuses, is not in sync', () => {
  const { burst, pass } = burstAt();
  burst.note(done('a'));
  pass(2000);
  expect(text(burst.news({ ...QUIET, isHindered: true }, false))).toMatch(/^NOT IN SYNC: 1 uploaded/u);
});

test('the word of the platform is waited for, in silence at first', () => {
  const { burst, pass } = burstAt();
  burst.note(done('a'));
  pass(2000);
  expect(burst.news({ ...QUIET, unconfirmed: 1 }, false)).toBeNull();
  pass(10_000);
  expect(text(burst.news({ ...QUIET, unconfirmed: 1 }, false))).toBe(
    'Sent: 1 uploaded (0.0 s); not confirmed yet: 1 file',
  );
  expect(burst.news({ ...QUIET, unconfirmed: 1 }, false)).toBeNull();
  expect(text(burst.news(QUIET, false))).toMatch(/^In sync: 1 uploaded/u);
});

test('a pass sums itself up; what it could not confirm is told when the platform has', () => {
  const { burst, pass } = burstAt();
  burst.note(done('a'));
  burst.passEnded(true, 0);
  expect(burst.isPending).toBe(false);
  burst.note(failed('b'));
  burst.passEnded(true, 2);
  pass(60_000);
  expect(burst.news({ ...QUIET, unconfirmed: 2 }, false)).toBeNull();
  expect(text(burst.news(QUIET, false))).toBe('In sync: the platform has confirmed every file');
});
