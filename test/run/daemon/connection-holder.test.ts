import { expect, test } from 'vitest';
import { ConnectionHolder, type HeldConnection } from '../../../src/run/daemon/daemon-platform.ts';
import type { Log } from '../../../src/service/logger.ts';

/** A connection that takes notes of what is done to it. */
function connection(fingerprint: string, close: () => Promise<void> = () => Promise.resolve()) {
  const done: string[] = [];
  const held: HeldConnection = {
    fingerprint,
    pausedForMs: () => 5000,
    pause: (ms) => done.push(`pause ${ms}`),
    close: () => {
      done.push('close');
      return close();
    },
  };
  return { ...held, done };
}

function hold() {
  const warnings: unknown[] = [];
  const ignore = (): void => undefined;
  const warn = (message: string, fields: object = {}): void => {
    warnings.push({ message, ...fields });
  };
  const log: Log = { debug: ignore, info: ignore, warn, error: ignore };
  return { holder: new ConnectionHolder<ReturnType<typeof connection>>(log), warnings };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('another connection takes over the pause, and the one before is closed once nothing uses it', async () => {
  const { holder } = hold();
  const [one, two] = [connection('one'), connection('two')];
  expect(holder.take(one)).toBeNull();
  expect(holder.take(two)).toBe(one);
  expect(two.done).toEqual(['pause 5000']);
  let settle = (): void => undefined;
  holder.retire(one, new Promise((resolve) => (settle = resolve)));
  await turn();
  expect(one.done).not.toContain('close');
  settle();
  await turn();
  expect(one.done).toContain('close');
  expect(holder.current).toBe(two);
});

test('a connection like the one in use is closed, and the one in use goes on', async () => {
  const { holder } = hold();
  const [one, same] = [connection('one'), connection('one')];
  holder.take(one);
  expect(holder.take(same)).toBeNull();
  await holder.close();
  expect(same.done).toEqual(['close']);
  expect(one.done).toEqual(['pause 0', 'close']);
});

test('a connection that cannot be closed is logged, and nothing else', async () => {
  const { holder, warnings } = hold();
  const broken = connection('one', () => Promise.reject(new Error('it is stuck')));
  holder.take(broken);
  holder.take(connection('two'));
  // Nobody waits for it yet: a rejection would go unhandled, and end the process.
  holder.retire(broken, Promise.reject(new Error('what was under way failed')));
  await turn();
  expect(warnings).toEqual([
    { message: 'a connection to the platform could not be closed', reason: 'it is stuck' },
  ]);
  await holder.close();
});
