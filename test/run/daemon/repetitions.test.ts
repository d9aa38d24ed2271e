import type { Trigger } from '../../../src/sync/events.ts';
import { expect, test } from 'vitest';
import { Repetitions } from '../../../src/run/daemon/daemon-news.ts';
import { emptySummary, type FileEvent } from '../../../src/domain/report.ts';

const REASON = '401 Unauthorized: The access token is missing or invalid';

const event = (some: Partial<FileEvent>): FileEvent => ({
  ...{ kind: 'upload', source: 'docs', path: 'a.md', key: 'a.md', reason: 'new' },
  ...some,
});

test('a file that fails for what was told of everything is not told again', () => {
  const repetitions = new Repetitions();
  const failed = event({ outcome: 'failed', error: REASON });
  expect(repetitions.isToldEvent(failed, false)).toBe(false);
  repetitions.refused('credentials', REASON);
  expect(repetitions.isToldEvent(failed, false)).toBe(true);
  expect(repetitions.isToldEvent(event({ outcome: 'failed', error: '400 InvalidPayload' }), false)).toBe(
    false,
  );
  expect(repetitions.isToldEvent(event({ outcome: 'done' }), false)).toBe(false);
  repetitions.refused('credentials', null);
  expect(repetitions.isToldEvent(failed, false), 'it was tried again').toBe(false);
});

test('a file that stays as it is is told of once, and again when it is tried or something else is wrong with it', () => {
  const repetitions = new Repetitions();
  const refused = event({ kind: 'refuse', reason: 'too large' });
  expect(repetitions.isToldEvent(refused, true), 'a run before told of it').toBe(false);
  expect(repetitions.isToldEvent(refused, true)).toBe(true);
  expect(repetitions.isToldEvent({ ...refused, source: 'news' }, true)).toBe(false);
  expect(repetitions.isToldEvent({ ...refused, reason: 'larger still' }, true)).toBe(false);
  expect(repetitions.isToldEvent(refused, false), 'it was looked at anew').toBe(false);
  expect(repetitions.isToldEvent(event({ outcome: 'done' }), false)).toBe(false);
  expect(repetitions.isToldEvent(event({ outcome: 'done' }), false), 'what was done is news each time').toBe(
    false,
  );
});

test('a pass that comes to the same is told again only when somebody asked for it and nothing is refused', () => {
  const repetitions = new Repetitions();
  const summary = { ...emptySummary(), failed: 1 };
  const isTold = (some: object, trigger: Trigger = 'asked', sources = ['docs']): boolean =>
    repetitions.isToldPass(trigger, sources, { ...summary, ...some });
  expect(isTold({ durationMs: 5 })).toBe(false);
  expect(isTold({ durationMs: 6 })).toBe(false);
  expect(isTold({ durationMs: 7 }, 'rescan')).toBe(true);
  expect(isTold({ durationMs: 7 }, 'rescan', ['news']), 'other sources').toBe(false);
  expect(isTold({ failed: 2 }, 'rescan')).toBe(false);
  repetitions.refused('quota', '402');
  expect(isTold({ failed: 2 })).toBe(true);
  expect(isTold({ failed: 3 })).toBe(false);
});
