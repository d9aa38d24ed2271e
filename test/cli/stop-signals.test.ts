import { describe, expect, onTestFinished, test } from 'vitest';
import { listenForStop, type StopSignals } from '../../src/cli/signals.ts';

/** Listens in place of whoever else listens in this process. */
function listen(): { signals: StopSignals; told: string[] } {
  const told: string[] = [];
  const others = (['SIGINT', 'SIGTERM'] as const).map(
    (signal) => [signal, process.listeners(signal)] as const,
  );
  for (const [signal, listeners] of others) for (const one of listeners) process.off(signal, one);
  const signals = listenForStop(
    {
      stopping: (signal) => {
        told.push(`stop ${signal}`);
      },
      endNow: () => {
        told.push('end');
      },
    },
    (code) => told.push(`exit ${code}`),
  );
  onTestFinished(() => {
    signals.release();
    for (const [signal, listeners] of others) for (const one of listeners) process.on(signal, one);
  });
  return { signals, told };
}

describe('a signal', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('%s asks for a clean end', (signal) => {
    const { signals, told } = listen();
    expect(signals.stop.aborted).toBe(false);
    process.emit(signal, signal);
    expect(told).toEqual([`stop ${signal}`]);
    expect(signals.stop.aborted).toBe(true);
  });

  test.each([
    ['SIGINT', 'SIGINT'],
    ['SIGTERM', 'SIGINT'],
    ['SIGINT', 'SIGTERM'],
  ] as const)('%s, then %s: ends at once', (first, second) => {
    const { told } = listen();
    process.emit(first, first);
    process.emit(second, second);
    expect(told).toEqual([`stop ${first}`, 'end', 'exit 130']);
    process.emit(second, second);
    expect(told).toEqual([`stop ${first}`, 'end', 'exit 130', 'end', 'exit 130']);
  });

  test('what is told otherwise asks for a clean end once, and never for an end at once', () => {
    const { signals, told } = listen();
    signals.request('SIGHUP');
    signals.request('SIGHUP');
    expect(told).toEqual(['stop SIGHUP']);
    expect(signals.stop.aborted).toBe(true);
    process.emit('SIGINT', 'SIGINT');
    expect(told).toEqual(['stop SIGHUP', 'end', 'exit 130']);
  });

  test('after the release nobody listens', () => {
    const { signals, told } = listen();
    signals.release();
    expect([process.listenerCount('SIGINT'), process.listenerCount('SIGTERM')]).toEqual([0, 0]);
    process.emit('SIGINT', 'SIGINT');
    expect(told).toEqual([]);
  });
});
