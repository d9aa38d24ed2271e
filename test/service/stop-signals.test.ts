import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { listenForStop, type StopSignals } from '../../src/service/stop-signals.ts';
import { run } from './fixture.ts';

/** Listens in place of whoever else listens in this process. */
function listen(): { signals: StopSignals; told: string[] } {
  const told: string[] = [];
  const others = (['SIGINT', 'SIGTERM'] as const).map(
    (signal) => [signal, process.listeners(signal)] as const,
  );
  for (const [signal, listeners] of others) for (const one of listeners) process.off(signal, one);
  const signals = listenForStop(
    (signal) => told.push(`stop ${signal}`),
    () => told.push('end'),
  );
  onTestFinished(() => {
    signals.release();
    for (const [signal, listeners] of others) for (const one of listeners) process.on(signal, one);
  });
  return { signals, told };
}

describe('a signal', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s: no new work, then a grace of ten seconds', (signal) => {
    const { signals, told } = listen();
    expect([signals.stop.aborted, signals.abort.aborted]).toEqual([false, false]);
    process.emit(signal, signal);
    expect(told).toEqual([`stop ${signal}`]);
    expect([signals.stop.aborted, signals.abort.aborted]).toEqual([true, false]);
    vi.advanceTimersByTime(9_999);
    expect(signals.abort.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signals.abort.aborted).toBe(true);
    expect(told).toEqual([`stop ${signal}`]);
  });

  test.each([
    ['SIGINT', 'SIGINT'],
    ['SIGTERM', 'SIGINT'],
    ['SIGINT', 'SIGTERM'],
  ] as const)('%s, then %s: ends at once', (first, second) => {
    const { told } = listen();
    process.emit(first, first);
    process.emit(second, second);
    expect(told).toEqual([`stop ${first}`, 'end']);
    process.emit(second, second);
    expect(told).toEqual([`stop ${first}`, 'end', 'end']);
  });

  test('work that ended is not broken off later', () => {
    const { signals } = listen();
    process.emit('SIGTERM', 'SIGTERM');
    signals.release();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(20_000);
    expect(signals.abort.aborted).toBe(false);
  });

  test('after the release nobody listens', () => {
    const { signals, told } = listen();
    signals.release();
    expect([process.listenerCount('SIGINT'), process.listenerCount('SIGTERM')]).toEqual([0, 0]);
    process.emit('SIGINT', 'SIGINT');
    expect(told).toEqual([]);
  });
});

test('the grace keeps no process that has nothing left to do', async () => {
  const { firstLine, ended } = run(
    'service/stop-signals.ts',
    `import { listenForStop } from './module.js';
     listenForStop(() => undefined, () => undefined);
     process.emit('SIGTERM', 'SIGTERM');
     process.on('exit', () => console.log(process.uptime()));`,
  );
  expect(await ended).toBe(0);
  expect(Number(await firstLine)).toBeLessThan(10);
});
