import { expect, test } from 'vitest';
import { openContent } from '../../src/platform/content.ts';
import { Pacer } from '../../src/platform/pacer.ts';
import { inChunks, SimulatedClock } from './fixture.ts';

/** Timers that keep a process alive. */
const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

test('content that is broken off keeps nobody waiting, also when it gets to its next chunk after that', async () => {
  const before = timers();
  const pacer = new Pacer({ maxBytesPerSecond: 1000, maxRequestsPerSecond: null }, new SimulatedClock());
  const abort = new AbortController();
  const content = {
    kind: 'stream',
    sizeBytes: 100_000,
    chunks: inChunks(Buffer.alloc(100_000), 10_000),
  } as const;
  const opened = openContent(content, pacer, 60_000, abort.signal);
  const chunks = (opened.body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  await chunks.next();
  expect(timers()).toBe(before + 1);
  const next = chunks.next();
  abort.abort();
  opened.close();
  await next;
  expect(timers()).toBe(before);
});
