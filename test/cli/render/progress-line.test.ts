import { describe, expect, test } from 'vitest';
import { progressLine, type ProgressFacts } from '../../../src/cli/render/progress.ts';
import { widthOf } from '../../../src/cli/render/text-layout.ts';

const WIDTHS = [40, 60, 80, 120, 200];
const GB = 1_000_000_000;

const sending = {
  kind: 'sending',
  files: 20,
  bytes: 340_000_000,
  part: 0.34,
  expected: { files: 120, bytes: GB },
  rate: { bytesPerSecond: 12_000_000, filesPerSecond: 0, leftMs: 55_000 },
  largest: { name: 'docs/lectures/video.mp4', sizeBytes: 800_000_000, sentBytes: 200_000_000, beganMs: 0 },
  inFlight: 8,
} satisfies ProgressFacts;

describe('what is sent', () => {
  test.each([
    [40, '34% | 340 MB of 1 GB | …video.mp4 25%'],
    [60, '34% | 340 MB of 1 GB | 0:55 left | …s/lectures/video.mp4 25%'],
    [80, '34% | 340 MB of 1 GB | 20 of 120 files | 0:55 left | docs/lectures/video.mp4 25%'],
    [
      120,
      '█████████░░░░░░░░░░░░░░░░░░░░ 34% | 340 MB of 1 GB | 20 of 120 files | 12 MB/s | 0:55 left | docs/lectures/video.mp4 25%',
    ],
    [
      200,
      '██████████░░░░░░░░░░░░░░░░░░░░ 34% | 340 MB of 1 GB | 20 of 120 files | 12 MB/s | 0:55 left | docs/lectures/video.mp4 25%',
    ],
  ])('in %i columns', (columns, line) => {
    expect(progressLine(sending, columns)).toBe(line);
  });

  test('before it is known how much there is', () => {
    const facts = {
      ...sending,
      expected: null,
      part: null,
      rate: { bytesPerSecond: 12_000_000, filesPerSecond: 0, leftMs: null },
    };
    expect(progressLine(facts, 80)).toBe('sending 8 files | 340 MB | 12 MB/s | docs/lectures/video.mp4 25%');
  });

  test('while no content is on its way files are read, and no end can be told', () => {
    const line = progressLine({ ...sending, inFlight: 0, largest: null }, 80);
    expect(line).toContain('34% | 340 MB of 1 GB | 20 of 120 files | reading files');
    expect(line).not.toContain('left');
  });
});

const waiting = {
  kind: 'waiting',
  reason: 'platform unreachable: connection refused (ECONNREFUSED)',
  goesOnInMs: 7200,
  givesUpInMs: 110_000,
} satisfies ProgressFacts;

test('a pause says when it goes on, before all else', () => {
  expect(progressLine(waiting, 120)).toBe(
    'waiting, next try in 0:08, giving up in 1:50: platform unreachable: connection refused (ECONNREFUSED)',
  );
  expect(progressLine(waiting, 39)).toBe('waiting, next try in 0:08, giving up i…');
  expect(progressLine({ ...waiting, goesOnInMs: null, givesUpInMs: null }, 30)).toBe(
    'waiting: platform unreachable…',
  );
});

test('what is waited for at the end keeps its time', () => {
  const facts = { kind: 'text', text: '9 sent, 6 searchable, 3 being indexed', forMs: 4200 } as const;
  expect(progressLine(facts, 80)).toBe('9 sent, 6 searchable, 3 being indexed (4.2 s)');
  expect(progressLine(facts, 30)).toBe('9 sent, 6 searchable,… (4.2 s)');
});

test('files are counted as they are looked at', () => {
  expect(progressLine({ kind: 'looking', files: 12_345 }, 80)).toBe('checking 12,345 files …');
});

test('every line fits, whatever names there are', () => {
  const names = [
    'a',
    'docs/目录/视频文件的名字很长很长很长很长.mp4',
    `docs/${'x'.repeat(300)}`,
    'a\u001b[31m\nb',
  ];
  for (const columns of [1, 2, 5, 10, 20, ...WIDTHS])
    for (const name of names) {
      const largest = { ...sending.largest, name };
      for (const facts of [
        { ...sending, largest },
        { ...waiting, reason: name },
        { ...sending, largest, part: null, expected: null },
      ]) {
        const line = progressLine(facts, columns);
        expect(widthOf(line)).toBeLessThanOrEqual(columns);
        expect(line).not.toMatch(/[\u0000-\u001f]/u);
      }
    }
});
