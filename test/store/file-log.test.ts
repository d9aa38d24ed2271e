import { expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/domain/history.ts';
import type { FileEvent } from '../../src/domain/report.ts';
import { openReader } from '../../src/store/open-reader.ts';
import { begin, closeAtEnd, NOW, openStore } from './fixture.ts';

const UPLOADED: FileEvent = {
  kind: 'upload',
  source: 'docs',
  path: 'a',
  key: 'k/a',
  reason: 'new',
  outcome: 'done',
};

const FAILED: FileEvent = { ...UPLOADED, reason: 'changed', outcome: 'failed', error: '503 Unavailable' };

test('the events of a file are kept in their order, and read by others once other writes are committed', async () => {
  const { store, file } = begin();
  store.history.noteFile(UPLOADED, NOW);
  store.history.noteFile({ ...UPLOADED, path: 'a/b' }, NOW);
  store.history.noteFile({ ...UPLOADED, source: 'news' }, NOW);
  store.history.noteFile(FAILED, NOW + 5);
  store.savePass(1, NOW, 0, '{}');
  await store.settled();
  const opened = openReader(file, true);
  if (opened.kind !== 'open') throw new Error(opened.kind);
  closeAtEnd(opened);
  const { files } = opened.reader.history;
  expect(files.of('docs', 'a', 0)).toEqual([
    { atMs: NOW, event: { kind: 'upload', source: 'docs', path: 'a', reason: 'new', outcome: 'done' } },
    {
      atMs: NOW + 5,
      event: {
        ...{ kind: 'upload', source: 'docs', path: 'a', reason: 'changed' },
        ...{ outcome: 'failed', error: '503 Unavailable' },
      },
    },
  ]);
  expect(files.of('docs', 'a', NOW + 1)).toHaveLength(1);
  expect(files.of('docs', 'b', 0)).toEqual([]);
});

test('what nothing else makes written is written within a minute, or when the file is closed', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { store, file } = begin();
    vi.advanceTimersByTime(50);
    store.history.noteFile(UPLOADED, NOW);
    expect(store.history.files.of('docs', 'a', 0)).toHaveLength(0);
    vi.advanceTimersByTime(60_000);
    expect(store.history.files.of('docs', 'a', 0)).toHaveLength(1);
    store.history.noteFile(FAILED, NOW);
    store.close();
    expect(openStore(file).history.files.of('docs', 'a', 0)).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});

test('the newest 50,000 are kept, and none for more than 30 days', async () => {
  const { store } = begin();
  const { files } = store.history;
  const write = async (): Promise<void> => {
    store.savePass(1, NOW, 0, '{}');
    await store.settled();
  };
  for (let nth = 0; nth < 50_010; nth += 1) {
    store.history.noteFile({ ...UPLOADED, path: nth < 10 ? 'first' : 'later' }, NOW + nth);
    if (nth % 5000 === 0) await write();
  }
  await write();
  expect(files.of('docs', 'first', 0)).toHaveLength(0);
  expect(files.of('docs', 'later', 0)).toHaveLength(50_000);
  // So few at a time that a clock that is ahead for an hour erases little.
  for (const [hours, left] of [
    [0, 48_000],
    [1, 46_001],
  ] as const) {
    store.history.noteFile({ ...UPLOADED, path: 'later' }, NOW + 31 * DAY_MS + hours * HOUR_MS);
    await write();
    expect(files.of('docs', 'later', 0)).toHaveLength(left);
  }
});
