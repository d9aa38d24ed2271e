import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/service/system-clock.ts';
import { run } from './fixture.ts';

const DAY = 86_400_000;

describe('the clock of the machine', () => {
  test('tells the time, and one that does not go back', () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
    const first = systemClock.monotonic();
    expect(systemClock.monotonic()).toBeGreaterThanOrEqual(first);
  });
});

describe('a sleep', () => {
  const never = new AbortController().signal;

  test('is not shorter than asked', async () => {
    const began = performance.now();
    await systemClock.sleep(20, never);
    expect(performance.now() - began).toBeGreaterThanOrEqual(20);
  });

  test.each([0, -1, -Infinity, Number.NaN])('of %d ms is none', async (ms) => {
    await systemClock.sleep(ms, never);
  });

  test('ends with its signal, without an error', async () => {
    const abort = new AbortController();
    const sleeping = systemClock.sleep(DAY, abort.signal);
    abort.abort();
    await sleeping;
  });

  test('does not begin when its signal has gone off', async () => {
    await systemClock.sleep(DAY, AbortSignal.abort());
  });

  test.each([2 ** 31, 30 * DAY, Infinity])(
    'of %d ms, more than a timer holds, does not end early',
    async (ms) => {
      const warnings: string[] = [];
      const warned = (warning: Error): void => {
        warnings.push(warning.name);
      };
      process.on('warning', warned);
      onTestFinished(() => void process.off('warning', warned));
      const abort = new AbortController();
      let hasEnded = false;
      const sleeping = systemClock.sleep(ms, abort.signal).then(() => {
        hasEnded = true;
      });
      for (let i = 0; i < 100; i++) await turn();
      // Node says so when a timer is too long, and fires it at once.
      expect(warnings).toEqual([]);
      expect(hasEnded).toBe(false);
      abort.abort();
      await sleeping;
    },
  );

  test('goes on after the longest timer, until its time is over', async () => {
    const { firstLine } = run(
      'service/system-clock.ts',
      `import { systemClock } from './module.js';
       const began = performance.now();
       await systemClock.sleep(200, new AbortController().signal);
       console.log(performance.now() - began);`,
      (source) => {
        expect(source).toContain('LONGEST_TIMER_MS = 2 ** 31 - 1;');
        return source.replace('2 ** 31 - 1', '10');
      },
    );
    expect(Number(await firstLine)).toBeGreaterThanOrEqual(200);
  });

  test('leaves nothing behind that keeps the process', async () => {
    const { ended } = run(
      'service/system-clock.ts',
      `import { systemClock } from './module.js';
       const abort = new AbortController();
       setImmediate(() => abort.abort());
       await systemClock.sleep(1e9, abort.signal);`,
    );
    expect(await ended).toBe(0);
  });
});
