import { onTestFinished, expect, test, describe } from 'vitest';
import { MOST_PENDING, Settling } from '../../src/files/settling.ts';
import { ManualClock } from '../manual-clock.ts';

const SETTLE_MS = 500;
const MAX_DELAY_MS = 10_000;

/** A settling whose file system is a table of facts; what is told is noted with its time. */
function settling(): {
  clock: ManualClock;
  facts: Map<string, string>;
  told: [number, ...string[]][];
  calms: [number, string][];
  subject: Settling;
  stop: AbortController;
} {
  const clock = new ManualClock();
  const facts = new Map<string, string>();
  const told: [number, ...string[]][] = [];
  const calms: [number, string][] = [];
  const stop = new AbortController();
  onTestFinished(() => {
    stop.abort();
  });
  const subject = new Settling({
    settleMs: SETTLE_MS,
    maxDelayMs: MAX_DELAY_MS,
    clock,
    signal: stop.signal,
    factsOf: (path) => facts.get(path) ?? 'absent',
    settled: (paths) => told.push([clock.monotonic(), ...paths]),
    bursting: () => undefined,
    calm: (reason) => calms.push([clock.monotonic(), reason]),
  });
  return { clock, facts, told, calms, subject, stop };
}

describe('a path', () => {
  test('is told settleMs after the last event, also when it is absent', async () => {
    const { clock, facts, told, subject } = settling();
    facts.set('f', '1');
    subject.touch('f');
    subject.touch('gone');
    await clock.advance(300);
    facts.set('f', '2');
    subject.touch('f');
    await clock.advance(5000);
    expect(told).toEqual([
      [500, 'gone'],
      [800, 'f'],
    ]);
  });

  test('that changes without an event stands still once more', async () => {
    const { clock, facts, told, subject } = settling();
    subject.touch('f');
    await clock.advance(400);
    facts.set('f', '2');
    await clock.advance(5000);
    expect(told).toEqual([[1000, 'f']]);
  });

  test('that never stands still is told maxDelayMs after its first event, and anew after that', async () => {
    const { clock, facts, told, subject } = settling();
    for (let ms = 0; ms < 25_000; ms += 250) {
      facts.set('f', String(ms));
      subject.touch('f');
      await clock.advance(250);
    }
    await clock.advance(5000);
    // Each first event after a telling begins a new wait.
    expect(told).toEqual([
      [10_000, 'f'],
      [20_000, 'f'],
      [25_250, 'f'],
    ]);
  });

  test('that changes without events is told after maxDelayMs', async () => {
    const { clock, facts, told, subject } = settling();
    subject.touch('f');
    for (let ms = 0; ms < 12_000; ms += 100) {
      facts.set('f', String(ms));
      await clock.advance(100);
    }
    expect(told).toEqual([[10_000, 'f']]);
  });

  test('that looks temporary has to stand still for longer, and is never told while it changes', async () => {
    const { clock, facts, told, subject } = settling();
    for (let ms = 0; ms < 25_000; ms += 250) {
      facts.set('.f.pdf.X7gk2Q', String(ms));
      subject.touch('.f.pdf.X7gk2Q');
      if (ms === 1000) subject.touch('plain');
      await clock.advance(250);
    }
    expect(subject.pending).toBe(1);
    await clock.advance(5000);
    expect(told).toEqual([
      [1500, 'plain'],
      [26_750, '.f.pdf.X7gk2Q'],
    ]);
    expect(subject.pending).toBe(0);
  });

  test('that looks temporary, is renamed and so gone, is told of as that', async () => {
    const { clock, facts, told, subject } = settling();
    facts.set('.f.pdf.X7gk2Q', '1');
    subject.touch('.f.pdf.X7gk2Q');
    await clock.advance(100);
    facts.delete('.f.pdf.X7gk2Q');
    facts.set('f.pdf', '1');
    subject.touch('.f.pdf.X7gk2Q');
    subject.touch('f.pdf');
    await clock.advance(5000);
    expect(told).toEqual([
      [600, 'f.pdf'],
      [2100, '.f.pdf.X7gk2Q'],
    ]);
  });

  test('a directory that looks temporary is told like any other', async () => {
    const { clock, told, subject } = settling();
    subject.touch('site.X7gk2Q');
    for (let ms = 0; ms < 12_000; ms += 250) {
      subject.touch('site.X7gk2Q/f');
      await clock.advance(250);
    }
    expect(told[0]).toEqual([10_000, 'site.X7gk2Q']);
  });

  test('below a pending directory keeps that waiting and is not told itself', async () => {
    const { clock, told, subject } = settling();
    subject.touch('a/old');
    await clock.advance(100);
    subject.touch('a');
    await clock.advance(300);
    subject.touch('a/b/f');
    subject.touch('ab');
    await clock.advance(5000);
    expect(told).toEqual([
      [500, 'a/old'],
      [900, 'a', 'ab'],
    ]);
  });

  test('below a directory of the same batch is dropped', async () => {
    const { clock, told, subject } = settling();
    subject.touch('a/b/f');
    subject.touch('a/b');
    subject.touch('a-b');
    await clock.advance(5000);
    expect(told).toEqual([[500, 'a/b', 'a-b']]);
  });
});

test('paths due at about the same time go in one batch; the first one does not wait for that', async () => {
  const { clock, told, subject } = settling();
  for (let i = 0; i < 20; i += 1) {
    subject.touch(`f${i}`);
    await clock.advance(1);
  }
  await clock.advance(5000);
  expect(told.map(([ms, ...paths]) => [ms, paths.length])).toEqual([
    [500, 1],
    [510, 10],
    [520, 9],
  ]);
});

test('nothing pending, nothing asleep; after the end nothing is told', async () => {
  const { clock, told, subject, stop } = settling();
  expect(clock.sleepers).toBe(0);
  subject.touch('f');
  await clock.advance(1000);
  expect([clock.sleepers, subject.pending]).toEqual([0, 0]);
  subject.touch('g');
  expect(clock.sleepers).toBe(1);
  stop.abort();
  await clock.advance(20_000);
  expect(clock.sleepers).toBe(0);
  expect(told).toEqual([[500, 'f']]);
});

test('many paths are looked at in several goes', async () => {
  const { clock, told, subject } = settling();
  for (let i = 0; i < 2500; i += 1) subject.touch(`f${i}`);
  await clock.advance(5000);
  expect(told.map(([ms, ...paths]) => [ms, paths.length])).toEqual([
    [500, 1000],
    [510, 1000],
    [520, 500],
  ]);
});

describe('a burst', () => {
  test('forgets what is pending, remembers nothing, and is over when it was calm for settleMs', async () => {
    const { clock, told, calms, subject } = settling();
    subject.touch('before');
    subject.burst('too much');
    expect([subject.pending, subject.isBursting]).toEqual([0, true]);
    await clock.advance(300);
    subject.touch('during');
    expect(subject.pending).toBe(0);
    subject.burst('more of it');
    await clock.advance(499);
    expect(calms).toEqual([]);
    await clock.advance(1);
    expect(calms).toEqual([[800, 'too much']]);
    expect(subject.isBursting).toBe(false);
    subject.touch('after');
    await clock.advance(5000);
    expect(told).toEqual([[1300, 'after']]);
    expect(calms).toHaveLength(1);
  });

  test('is told of after maxDelayMs when it goes on', async () => {
    const { clock, calms, subject } = settling();
    subject.burst('too much');
    for (let ms = 0; ms < 9900; ms += 100) {
      await clock.advance(100);
      subject.touch('noise');
    }
    expect(calms).toEqual([]);
    await clock.advance(100);
    expect(calms).toEqual([[10_000, 'too much']]);
  });

  test('is what too many pending paths are', async () => {
    const { clock, told, calms, subject } = settling();
    for (let i = 0; i < MOST_PENDING; i += 1) subject.touch(`f${i}`);
    expect([subject.pending, subject.isBursting]).toEqual([MOST_PENDING, false]);
    subject.touch('f0');
    expect(subject.isBursting).toBe(false);
    subject.touch('one more');
    expect([subject.pending, subject.isBursting]).toEqual([0, true]);
    await clock.advance(5000);
    expect(calms.map(([ms]) => ms)).toEqual([500]);
    expect(told).toEqual([]);
  });
});
