import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { together, type HistoryBucket } from '../../src/domain/history.ts';
import type { FileEvent } from '../../src/domain/report.ts';
import { countsOf } from '../../src/run/history-recorder.ts';
import { readStateFile } from '../../src/run/read-state-file.ts';
import { createSite, type Site } from '../cli/binary.ts';
import { openSite } from './open-site.ts';

/** All that the history of a site says, together. */
function historyOf(site: Site): HistoryBucket {
  const { reader, close } = readStateFile(join(site.directory, '.botsync/state.db'));
  const buckets = reader.history.buckets(0, 1e15);
  close();
  return together(buckets, { startMs: 0, spanMs: 0 });
}

/** All counts but these are zero. */
function only(counts: Partial<HistoryBucket>): HistoryBucket {
  return { ...together([], { startMs: 0, spanMs: 0 }), ...counts };
}

test.each<[Partial<FileEvent>, object | null]>([
  [
    { kind: 'upload', outcome: 'done' },
    { sentFiles: 1, sentBytes: 7 },
  ],
  [
    { kind: 'renew', outcome: 'done' },
    { sentFiles: 1, sentBytes: 7 },
  ],
  [{ kind: 'upload', outcome: 'failed' }, { failed: 1 }],
  [{ kind: 'update', outcome: 'done' }, { updated: 1 }],
  [{ kind: 'update', outcome: 'failed' }, { failed: 1 }],
  [{ kind: 'adopt', outcome: 'done' }, { adopted: 1 }],
  [{ kind: 'remove', outcome: 'done' }, { removed: 1 }],
  [{ kind: 'remove', outcome: 'failed' }, { failed: 1 }],
  [{ kind: 'refuse' }, { refused: 1 }],
  [{ kind: 'confirm', outcome: 'failed' }, { failed: 1 }],
  [{ kind: 'confirm', outcome: 'searchable' }, null],
  [{ kind: 'problem' }, null],
  [{ kind: 'skip' }, null],
])('%j is counted as %j', (event, counts) => {
  const whole = { source: 'docs', path: 'a', key: 'a', reason: 'new', kind: 'skip', ...event } as const;
  expect(countsOf(whole, { bytes: 7, durationMs: 1 })).toEqual(counts);
});

test('a pass counts what it does, and no pass counts again what it found before', async () => {
  const site = await createSite(
    {
      limits: { fileBytes: 100 },
      rules: [{ match: '*.md', index: true }],
      removals: { mode: 'expire', delay: '1ms' },
      confirm: { wait: '10s' },
    },
    {
      failIndexing: ['bad.md'],
      rateLimit: { requests: 1000, windowMs: 1000, window: 'sliding', tells: 'all' },
      recordRequests: true,
    },
    'auto',
  );
  site.write('docs/good.md', '12345');
  site.write('docs/bad.md', '123');
  site.write('docs/large.md', 'x'.repeat(101));
  const requests = (): number =>
    site.emulator.requests.filter(({ operation }) => operation !== 'upload').length;
  await openSite(site).pass();
  const first = { sentFiles: 2, sentBytes: 8, failed: 1, refused: 1, requestLimit: 60_000 };
  expect(historyOf(site)).toEqual(only({ ...first, requests: requests() }));
  expect(requests()).toBeGreaterThan(2);
  await openSite(site).pass();
  expect(historyOf(site)).toEqual(only({ ...first, requests: requests() }));
  rmSync(join(site.directory, 'docs/good.md'));
  await openSite(site).pass();
  expect(historyOf(site)).toEqual(only({ ...first, removed: 1, requests: requests() }));
});

test('what the platform has already counts as taken over, other settings as updates, 429 as throttled', async () => {
  const site = await createSite({}, {}, 'auto');
  site.write('docs/a.md', 'alpha');
  await openSite(site).pass();
  rmSync(join(site.directory, '.botsync'), { recursive: true });
  await openSite(site).pass();
  expect(historyOf(site)).toMatchObject({ sentFiles: 0, adopted: 1, throttled: 0 });
  const config = JSON.parse(readFileSync(join(site.directory, 'botsync.config.json'), 'utf8')) as object;
  site.write(
    'botsync.config.json',
    JSON.stringify({ ...config, rules: [{ match: '**', tags: { kind: 'page' } }] }),
  );
  const headers = { 'retry-after': '0' };
  site.emulator.faults.add({ operation: 'update-file', kind: 'status', status: 429, headers });
  await openSite(site).pass();
  expect(historyOf(site)).toMatchObject({ sentFiles: 0, adopted: 1, updated: 1, throttled: 1 });
});

test('a daemon counts, and so does a repair; nobody else does', async () => {
  const site = await createSite({ watch: { settle: '50ms' } }, {}, 'auto');
  site.write('docs/a.md', 'a');
  const sync = openSite(site);
  const events = sync.events();
  const daemon = await sync.start();
  for await (const { kind } of events) if (kind === 'pass-ended') break;
  // It is read beside the daemon that writes it.
  await expect.poll(() => historyOf(site).sentFiles).toBe(1);
  await daemon.stop();
  const after = historyOf(site);
  expect(after).toMatchObject({ sentFiles: 1, sentBytes: 1, failed: 0 });
  expect(after.requests).toBeGreaterThan(0);
  await openSite(site).verify();
  await openSite(site).plan();
  expect(historyOf(site)).toEqual(after);
  await openSite(site).verify({ repair: true });
  expect(historyOf(site).requests).toBeGreaterThan(after.requests);
});
