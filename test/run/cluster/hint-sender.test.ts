import { expect, onTestFinished, test } from 'vitest';
import { DatabaseError } from '../../../src/cluster/shared-ledger.ts';
import type { Hint, PathLook } from '../../../src/domain/hint.ts';
import { HintSender } from '../../../src/run/cluster/host-hints.ts';
import { ManualClock } from '../../manual-clock.ts';

const OLD: PathLook = { kind: 'file', sizeBytes: 1n, mtimeNs: 1n };
const NEW: PathLook = { kind: 'file', sizeBytes: 2n, mtimeNs: 2n };

const hintOf = (path: string, look: PathLook = NEW): Hint => ({ kind: 'paths', paths: [{ path, look }] });

/** A sender, what it sent, and how the database takes it. */
class Sending {
  readonly clock = new ManualClock();
  readonly messages: [string, Hint][] = [];
  readonly counts: number[] = [];
  answer: () => Promise<boolean> = () => Promise.resolve(true);
  readonly sender = new HintSender({
    clock: this.clock,
    send: (source, hint) => {
      this.messages.push([source, hint]);
      return this.answer();
    },
    sent: (count) => this.counts.push(count),
  });

  constructor() {
    const stop = new AbortController();
    onTestFinished(() => {
      stop.abort();
    });
    void this.sender.run(stop.signal);
  }
}

test('the first hint goes at once, those that follow go together, each path once and as it looked last', async () => {
  const { sender, clock, messages, counts } = new Sending();
  sender.note('docs', hintOf('a.md'));
  await clock.advance(0);
  expect(messages).toEqual([['docs', hintOf('a.md')]]);
  sender.note('docs', hintOf('b.md', OLD));
  sender.note('more', hintOf('b.md'));
  sender.note('docs', hintOf('c.md'));
  sender.note('docs', hintOf('b.md'));
  await clock.advance(249);
  expect(messages).toHaveLength(1);
  await clock.advance(1);
  const paths = [
    { path: 'b.md', look: NEW },
    { path: 'c.md', look: NEW },
  ];
  expect(messages.slice(1)).toEqual([
    ['docs', { kind: 'paths', paths }],
    ['more', hintOf('b.md')],
  ]);
  expect(counts).toEqual([1, 2, 1]);
  await clock.advance(60_000);
  expect(messages).toHaveLength(3);
});

test('more than a thousand paths are one hint for everything, and so is a burst with all that it is about', async () => {
  const { sender, clock, messages, counts } = new Sending();
  for (let index = 0; index < 1000; index += 1) sender.note('docs', hintOf(`${index}.md`));
  for (let index = 0; index < 1001; index += 1) sender.note('more', hintOf(`${index}.md`));
  sender.note('other', hintOf('a.md'));
  sender.note('other', { kind: 'everything' });
  sender.note('other', hintOf('b.md'));
  await clock.advance(0);
  expect(counts).toEqual([1000, 1, 1]);
  expect(messages.slice(1)).toEqual([
    ['more', { kind: 'everything' }],
    ['other', { kind: 'everything' }],
  ]);
});

test('what the database does not take, or is for nobody, is dropped; what comes later is sent', async () => {
  const sending = new Sending();
  const { sender, clock, messages, counts } = sending;
  sending.answer = () => Promise.reject(new DatabaseError('unreachable', 'no answer'));
  sender.note('docs', hintOf('a.md'));
  await clock.advance(1000);
  sending.answer = () => Promise.resolve(false);
  sender.note('docs', hintOf('b.md'));
  await clock.advance(1000);
  sending.answer = () => Promise.resolve(true);
  sender.note('docs', hintOf('c.md'));
  await clock.advance(60_000);
  expect(messages).toEqual(['a.md', 'b.md', 'c.md'].map((path) => ['docs', hintOf(path)]));
  expect(counts).toEqual([1]);
});
