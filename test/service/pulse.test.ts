import { expect, test } from 'vitest';
import { Pulse } from '../../src/service/pulse.ts';

const LIMIT_MS = 1000;

function world() {
  const time = { nowMs: 5000, excused: false };
  const pulse = new Pulse(() => time.nowMs);
  const transfer = pulse.stage('transfer', () => time.excused);
  const walk = pulse.stage('walk');
  const after = (ms: number): string[] => {
    time.nowMs += ms;
    return pulse.standsStill(LIMIT_MS);
  };
  return { time, transfer, walk, after };
}

test('idle is healthy, from the start and after work', () => {
  const { transfer, after } = world();
  expect(after(10 * LIMIT_MS)).toEqual([]);
  transfer.begin();
  transfer.end();
  expect(after(10 * LIMIT_MS)).toEqual([]);
});

test('work that does not move on is noticed at the limit, however long it was idle before', () => {
  const { transfer, walk, after } = world();
  after(10 * LIMIT_MS);
  transfer.begin();
  expect(after(LIMIT_MS - 1)).toEqual([]);
  walk.begin();
  expect(after(1)).toEqual(['transfer']);
  expect(after(LIMIT_MS)).toEqual(['transfer', 'walk']);
  transfer.end();
  expect(after(0)).toEqual(['walk']);
});

test('progress, or the end of one of several, is a sign of life', () => {
  const { transfer, after } = world();
  transfer.begin();
  transfer.begin();
  after(LIMIT_MS - 1);
  transfer.progress();
  expect(after(LIMIT_MS - 1)).toEqual([]);
  transfer.end();
  expect(after(LIMIT_MS - 1)).toEqual([]);
  expect(after(1)).toEqual(['transfer']);
});

test('new work beside work that hangs is none', () => {
  const { transfer, after } = world();
  transfer.begin();
  after(LIMIT_MS - 1);
  transfer.begin();
  expect(after(1)).toEqual(['transfer']);
});

test('a wait that is meant is no standstill, and the time begins anew after it, for this stage alone', () => {
  const { time, transfer, walk, after } = world();
  transfer.begin();
  walk.begin();
  time.excused = true;
  expect(after(LIMIT_MS)).toEqual(['walk']);
  time.excused = false;
  expect(after(LIMIT_MS - 1)).toEqual(['walk']);
  expect(after(1)).toEqual(['transfer', 'walk']);
});
