import type { OutgoingFile } from '../../src/sync/events.ts';
import { expect, test } from 'vitest';
import { describeInFlight } from '../../src/cli/render/progress.ts';
import { TransferTally } from '../../src/run/transfer-tally.ts';

const file = (path: string, sizeBytes: number) => ({ source: 'docs', path, sizeBytes });

function tallyAt(): { tally: TransferTally; pass: (ms: number) => void } {
  let nowMs = 0;
  return { tally: new TransferTally(() => nowMs), pass: (ms) => (nowMs += ms) };
}

/** Begins an attempt, and returns what follows it. */
function began(tally: TransferTally, file: OutgoingFile) {
  tally.listener({ kind: 'attempt-began', file });
  return {
    progress: (bytes: number) => {
      tally.listener({ kind: 'attempt-progress', file, bytes });
    },
    ended: () => {
      tally.listener({ kind: 'attempt-ended', file });
    },
  };
}

test('bytes in flight count, until the attempt is over', () => {
  const { tally } = tallyAt();
  tally.expected = { files: 2, bytes: 1000 };
  const large = began(tally, file('video.mp4', 900));
  const small = began(tally, file('a.md', 100));
  large.progress(300);
  large.progress(150);
  small.progress(100);
  expect(tally).toMatchObject({
    bytes: 550,
    inFlightCount: 2,
    largest: { name: 'docs/video.mp4', sentBytes: 450 },
  });
  small.ended();
  tally.done(100);
  expect(tally).toMatchObject({ bytes: 550, files: 1, inFlightCount: 1 });
  // An attempt that failed has brought nothing there.
  large.ended();
  expect(tally).toMatchObject({ bytes: 100, inFlightCount: 0, largest: null });
});

test('the rate is that of the last seconds, and the time left follows from it', () => {
  const { tally, pass } = tallyAt();
  tally.expected = { files: 1, bytes: 100_000_000 };
  const watch = began(tally, file('video.mp4', 100_000_000));
  expect(tally.rate()).toMatchObject({ bytesPerSecond: 0, leftMs: null });
  for (let second = 0; second < 20; second++) {
    pass(1000);
    watch.progress(second < 10 ? 1_000_000 : 2_000_000);
    tally.rate();
  }
  const { bytesPerSecond, leftMs } = tally.rate();
  expect(bytesPerSecond).toBeGreaterThan(1_600_000);
  expect(bytesPerSecond).toBeLessThan(2_000_000);
  expect(leftMs).toBeCloseTo((70_065_536 / bytesPerSecond) * 1000, -3);
  pass(60_000);
  tally.rate();
  pass(5000);
  expect(tally.rate()).toMatchObject({ bytesPerSecond: 0, leftMs: null });
});

test('more than was expected is no more than all', () => {
  const { tally } = tallyAt();
  tally.expected = { files: 1, bytes: 10 };
  began(tally, file('grew.md', 10)).progress(1_000_000);
  expect(tally.part).toBe(1);
});

test('what is on its way is told by its largest files', () => {
  const { tally } = tallyAt();
  for (const size of [1, 5, 3, 4, 2]) began(tally, file(String(size), size * 1000)).progress(500);
  expect(describeInFlight(tally.inFlight)).toBe(
    '5 files being sent (docs/5, 500 B of 5 kB; docs/4, 500 B of 4 kB; docs/3, 500 B of 3 kB; and 2 more)',
  );
});
