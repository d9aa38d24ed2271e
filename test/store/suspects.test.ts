import { expect, test } from 'vitest';
import type { StateStore } from '../../src/store/state-store.ts';
import { addSending, addSynced, begin, NOW, row } from './fixture.ts';

const AGAIN_AT = NOW + 1000;

const dueKeys = (store: StateStore, nowMs: number): string[] =>
  store.suspectsDue(nowMs, 10).map(({ key }) => key);

test('what is being sent or removed is suspected, what is in sync is not, and is due at its time', () => {
  const { store, target } = begin();
  addSynced(store, target, 'docs', 'synced');
  addSending(store, target, 'docs', 'sending');
  store.suspects.addUnfinished(AGAIN_AT);
  expect(dueKeys(store, AGAIN_AT - 1)).toEqual([]);
  expect(store.suspectsDue(AGAIN_AT, 10)).toEqual([
    { target, key: 'sending', source: 'docs', path: 'sending' },
  ]);
});

test('one that is taken is to be sent again, whatever has become of it, and is suspected no more', () => {
  const { store, target } = begin();
  addSending(store, target, 'docs', 'a');
  store.suspects.addUnfinished(AGAIN_AT);
  // It was sent since.
  addSynced(store, target, 'docs', 'a');
  const [suspect] = store.suspectsDue(AGAIN_AT, 10);
  if (suspect === undefined) throw new Error('none is due');
  store.suspects.take(suspect);
  expect(dueKeys(store, AGAIN_AT)).toEqual([]);
  store.suspects.addUnfinished(AGAIN_AT);
  expect(dueKeys(store, AGAIN_AT), 'its record says that it is being sent').toEqual(['a']);
});

test('one of which nothing is on record any more is dropped when it is due, not before', () => {
  const { store, target } = begin();
  addSending(store, target, 'docs', 'a');
  store.suspects.addUnfinished(AGAIN_AT);
  store.forget(row(target, 'a'));
  store.suspects.dropForgotten(AGAIN_AT - 1);
  addSending(store, target, 'docs', 'a');
  expect(dueKeys(store, AGAIN_AT)).toEqual(['a']);
  store.forget(row(target, 'a'));
  store.suspects.dropForgotten(AGAIN_AT);
  addSending(store, target, 'docs', 'a');
  expect(dueKeys(store, AGAIN_AT)).toEqual([]);
});
