import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { listen, unlisten, type AbortListener } from '../../src/platform/exchange.ts';

function listener(told: string[], name: string, then: (own: AbortListener) => void): AbortListener {
  const own: AbortListener = {
    bagIndex: -1,
    aborted: () => {
      told.push(name);
      then(own);
    },
  };
  return own;
}

test('those who listen when a signal aborts are told, and may leave meanwhile', () => {
  const { signal, abort } = controlled();
  const told: string[] = [];
  const leave = (own: AbortListener): void => {
    unlisten(signal, own);
  };
  const gone = listener(told, 'gone', leave);
  for (const one of [listener(told, 'first', leave), gone, listener(told, 'second', leave)])
    listen(signal, one);
  leave(gone);
  abort();
  expect(told.sort()).toEqual(['first', 'second']);
});

test('a signal has one listener for all, and none when nobody listens: it would live on with one', () => {
  const { signal } = controlled();
  const both = ['first', 'second'].map((name) => listener([], name, () => undefined));
  for (const one of both) listen(signal, one);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  for (const one of both) unlisten(signal, one);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  for (const one of both) unlisten(signal, one);
});

function controlled(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    abort: () => {
      controller.abort();
    },
  };
}
