import { expect, test } from 'vitest';
import { Bag, type BagItem } from '../../src/domain/bag.ts';

interface Marble extends BagItem {
  readonly name: string;
}

const marble = (name: string): Marble => ({ name, bagIndex: -1 });

test('what is taken out is out, and the rest is still there', () => {
  const [a, b, c] = [marble('a'), marble('b'), marble('c')];
  const bag = new Bag<Marble>();
  for (const one of [a, b, c]) bag.add(one);
  bag.delete(a);
  expect([...bag].map(({ name }) => name).sort()).toEqual(['b', 'c']);
  bag.delete(c);
  bag.add(a);
  expect([...bag].map(({ name }) => name).sort()).toEqual(['a', 'b']);
  expect(bag.size).toBe(2);
});

test('taking out what is not in does nothing, also a second time', () => {
  const [a, b] = [marble('a'), marble('b')];
  const bag = new Bag<Marble>();
  bag.add(a);
  bag.delete(b);
  bag.delete(a);
  bag.add(b);
  bag.delete(a);
  expect([...bag]).toEqual([b]);
});

test('what is put in twice is in once: undici begins a request again when its connection was just closed', () => {
  const [a, b] = [marble('a'), marble('b')];
  const bag = new Bag<Marble>();
  bag.add(a);
  bag.add(a);
  bag.add(b);
  bag.delete(a);
  expect([...bag]).toEqual([b]);
});
