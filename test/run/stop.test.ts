import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { stopBy } from '../../src/run/stop.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([0, 1])('signal %i of two: no new work, then a grace of ten seconds', (which) => {
  const both = [new AbortController(), new AbortController()];
  const { stop, abort } = stopBy([both[0]?.signal, undefined, both[1]?.signal]);
  expect([stop.aborted, abort.aborted]).toEqual([false, false]);
  both[which]?.abort();
  expect([stop.aborted, abort.aborted]).toEqual([true, false]);
  vi.advanceTimersByTime(9_999);
  expect(abort.aborted).toBe(false);
  both[1 - which]?.abort();
  vi.advanceTimersByTime(1);
  expect(abort.aborted).toBe(true);
});

test('a signal that has aborted stops at once; the grace is as long as is said', () => {
  const { stop, abort } = stopBy([AbortSignal.abort()], 5);
  expect(stop.aborted).toBe(true);
  vi.advanceTimersByTime(5);
  expect(abort.aborted).toBe(true);
});

test.each([Infinity, 2 ** 31, 1e12])('a grace of %d ms ends nothing soon', (graceMs) => {
  const { stop, abort } = stopBy([AbortSignal.abort()], graceMs);
  expect(stop.aborted).toBe(true);
  vi.advanceTimersByTime(86_400_000);
  expect(abort.aborted).toBe(false);
});

test('work that ended is not broken off later, and the signal is let go of', () => {
  const controller = new AbortController();
  const first = stopBy([controller.signal]);
  const second = stopBy([controller.signal]);
  second.release();
  controller.abort();
  first.release();
  expect(vi.getTimerCount()).toBe(0);
  expect([first.abort.aborted, second.stop.aborted]).toEqual([false, false]);
});
