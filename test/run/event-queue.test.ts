import { listenerOf } from '../../src/run/observer.ts';
import { expect, test } from 'vitest';
import { EventQueue, EventFeed, type SyncEvent } from '../../src/run/events.ts';

const warning = (message: string): SyncEvent => ({ kind: 'warning', message });

/** All that waits, as far as it goes without waiting. */
async function drain(queue: EventQueue): Promise<unknown[]> {
  queue.finish();
  const all: unknown[] = [];
  for await (const event of queue) all.push(event.kind === 'warning' ? event.message : event);
  return all;
}

function queueOf(capacity: number): EventQueue {
  return new EventQueue(capacity, () => undefined);
}

test('events come in order, to whoever waits and to whoever comes later', async () => {
  const queue = queueOf(10);
  const early = [queue.next(), queue.next()];
  for (const message of ['a', 'b', 'c']) queue.push(warning(message));
  expect((await Promise.all(early)).map(({ value }) => value)).toEqual([warning('a'), warning('b')]);
  expect(await drain(queue)).toEqual(['c']);
  expect(await queue.next()).toEqual({ done: true, value: undefined });
});

test('what nobody takes is dropped beyond the bound, and counted where it is missing', async () => {
  const queue = queueOf(2);
  for (const message of ['a', 'b', 'c', 'd']) queue.push(warning(message));
  expect((await queue.next()).value).toEqual(warning('a'));
  queue.push(warning('e'));
  queue.push(warning('f'));
  expect((await queue.next()).value).toEqual(warning('b'));
  expect(await drain(queue)).toEqual([{ kind: 'dropped', count: 2 }, 'e', { kind: 'dropped', count: 1 }]);
});

test('a million bytes that nobody hears of are one event', async () => {
  const queue = queueOf(2);
  for (let piece = 0; piece < 1000; piece += 1) queue.push({ kind: 'sent', bytes: 1000 });
  queue.push(warning('a'));
  expect(await drain(queue)).toEqual([{ kind: 'sent', bytes: 1_000_000 }, 'a']);
});

test('whoever leaves the loop is told nothing more', async () => {
  let closed = 0;
  const queue = new EventQueue(10, () => (closed += 1));
  for (const message of ['a', 'b']) queue.push(warning(message));
  for await (const event of queue) {
    expect(event).toEqual(warning('a'));
    break;
  }
  queue.push(warning('c'));
  expect(await queue.next()).toEqual({ done: true, value: undefined });
  expect(closed).toBe(1);
});

test('a feed tells the observer and every reader, until it is closed', async () => {
  const told: string[] = [];
  const feed = new EventFeed([listenerOf({ warn: (message) => told.push(message) })]);
  const first = feed.events(10);
  feed.warn('a');
  const second = feed.events(10);
  feed.also(listenerOf({ warn: (message) => told.push(`also ${message}`) })).warn('b');
  feed.close();
  feed.warn('c');
  const all = async (events: AsyncIterable<SyncEvent>): Promise<SyncEvent[]> => {
    const found: SyncEvent[] = [];
    for await (const event of events) found.push(event);
    return found;
  };
  expect(await all(first)).toEqual([warning('a'), warning('b')]);
  expect(await all(second)).toEqual([warning('b')]);
  expect(await all(feed.events(10))).toEqual([]);
  expect(told).toEqual(['a', 'b', 'also b', 'c']);
});
