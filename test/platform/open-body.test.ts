import { expect, test } from 'vitest';
import { Throughput } from '../../src/domain/throughput.ts';
import { contentBody } from '../../src/platform/open-body.ts';
import { Pacer } from '../../src/platform/pacer.ts';
import { inChunks, NEVER, SimulatedClock } from './fixture.ts';

test('it is told whose turn it is: ours while the disk or our own limit is waited for', async () => {
  const pacer = new Pacer(
    { maxBytesPerSecond: 1000, maxRequestsPerSecond: null, longestPauseMs: Infinity },
    new SimulatedClock(),
  );
  const chunks = inChunks(Buffer.alloc(3000), 1000);
  const body = contentBody({ kind: 'stream', sizeBytes: 3000, chunks }, pacer, new Throughput(), null, NEVER);
  const turns: string[] = [];
  body.watch = { turn: (whose) => turns.push(whose) };
  for await (const chunk of body.content as AsyncIterable<Buffer>) turns.push(String(chunk.length));
  expect(turns).toEqual([
    'ours',
    ...Array.from({ length: 3 }, () => ['theirs', '1000', 'ours']).flat(),
    'theirs',
  ]);
  expect(body.sentBytes).toBe(3000);
});
