import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { createMetrics, type SourceMeasures } from '../../src/service/metrics.ts';
import { temporaryDirectory } from './fixture.ts';

const DOCS: SourceMeasures = {
  name: 'docs',
  files: {
    ...{ 'in-sync': 12, unconfirmed: 2, unsearchable: 1, failed: 1, refused: 2, kept: 3 },
    ...{ sending: 6, pending: 7, problem: 8, 'to-remove': 9 },
  },
  words: { stored: 4, searchable: 5, unknown: 3 },
  nextExpiryMs: 1_800_000_000_500,
  overdueRenewals: 4,
  watchedDirectories: 5,
  isHalted: true,
  lastSuccessMs: 1_700_000_000_000,
};
const ODD: SourceMeasures = {
  name: 'a "b"\n\\',
  files: {
    ...{ 'in-sync': 0, unconfirmed: 2, unsearchable: 1, failed: 0, refused: 0, kept: 0 },
    ...{ sending: 0, pending: 0, problem: 0, 'to-remove': 0 },
  },
  words: { stored: 0, searchable: 0, unknown: 0 },
  nextExpiryMs: null,
  overdueRenewals: 0,
  watchedDirectories: 0,
  isHalted: false,
  lastSuccessMs: null,
};

/** The samples of a text, by name and labels. */
function samplesOf(body: string): Map<string, number> {
  return new Map(
    body
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

async function world(...sources: SourceMeasures[]) {
  const state = { sources, asked: 0 };
  const metrics = await createMetrics('1.2.3', () => {
    state.asked++;
    return state.sources;
  });
  const samples = async (): Promise<Map<string, number>> => samplesOf((await metrics.render()).body);
  return { state, metrics, samples };
}

test('measures sources when asked, once a time, and forgets those that left', async () => {
  const { state, samples } = await world(DOCS, ODD);
  const first = await samples();
  expect(state.asked).toBe(1);
  const expected = [
    ['botsync_files{source="docs",state="in-sync"}', 12],
    ['botsync_files{source="docs",state="unconfirmed"}', 2],
    ['botsync_files{source="docs",state="unsearchable"}', 1],
    ['botsync_files{source="docs",state="kept"}', 3],
    ['botsync_files{source="docs",state="sending"}', 6],
    ['botsync_files{source="docs",state="to-remove"}', 9],
    ['botsync_files_in_sync{source="docs",word="stored"}', 4],
    ['botsync_files_in_sync{source="docs",word="searchable"}', 5],
    ['botsync_files_in_sync{source="docs",word="unknown"}', 3],
    ['botsync_next_expiry_timestamp_seconds{source="docs"}', 1_800_000_000.5],
    ['botsync_overdue_renewals{source="docs"}', 4],
    ['botsync_watched_directories{source="docs"}', 5],
    ['botsync_source_halted{source="docs"}', 1],
    ['botsync_last_success_timestamp_seconds{source="docs"}', 1_700_000_000],
    [String.raw`botsync_source_halted{source="a \"b\"\n\\"}`, 0],
    [String.raw`botsync_last_success_timestamp_seconds{source="a \"b\"\n\\"}`, 0],
    [String.raw`botsync_next_expiry_timestamp_seconds{source="a \"b\"\n\\"}`, undefined],
  ] as const;
  for (const [name, value] of expected) expect([name, first.get(name)]).toEqual([name, value]);
  state.sources = [ODD];
  expect(
    [...(await samples()).keys()].filter((name) => /^botsync_(?:files|source).*docs/u.test(name)),
  ).toEqual([]);
});

test('counts from zero on', async () => {
  const { metrics, samples } = await world(DOCS);
  const counters = async (): Promise<unknown> =>
    Object.fromEntries(
      [...(await samples())].filter(([name]) => /^botsync_\w+_(?:total|count|sum)\b/u.test(name)),
    );
  const zero = {
    botsync_sent_bytes_total: 0,
    'botsync_uploads_total{source="docs",result="done"}': 0,
    'botsync_uploads_total{source="docs",result="refused"}': 0,
    'botsync_uploads_total{source="docs",result="failed"}': 0,
    ...Object.fromEntries(
      ['upsert', 'upload', 'list', 'get', 'update', 'delete'].flatMap((operation) => [
        ...['ok', 'credentials', 'quota', 'refused', 'transient'].map((outcome) => [
          `botsync_requests_total{operation="${operation}",outcome="${outcome}"}`,
          0,
        ]),
        [`botsync_request_duration_seconds_count{operation="${operation}"}`, 0],
        [`botsync_request_duration_seconds_sum{operation="${operation}"}`, 0],
      ]) as [string, number][],
    ),
    botsync_retries_total: 0,
    ...Object.fromEntries(
      ['command', 'asked', 'outage', 'blockade'].flatMap((reason) => [
        [`botsync_pauses_total{reason="${reason}"}`, 0],
        [`botsync_pause_seconds_total{reason="${reason}"}`, 0],
      ]),
    ),
    ...Object.fromEntries(
      ['sent', 'failed', 'dropped'].map((outcome) => [
        `botsync_notifications_total{outcome="${outcome}"}`,
        0,
      ]),
    ),
    'botsync_rescans_total{source="docs"}': 0,
    'botsync_rescan_only_changes_total{source="docs"}': 0,
    'botsync_removals_total{source="docs"}': 0,
  };
  expect(await counters()).toEqual(zero);

  metrics.sent(100);
  metrics.sent(23);
  metrics.uploadEnded('docs', 'done');
  metrics.uploadEnded('docs', 'failed');
  metrics.requestEnded('upsert', 'ok', 0.02);
  metrics.requestEnded('upsert', 'transient', 2.5);
  metrics.requestEnded('upload', 'ok', 5000);
  metrics.retried();
  metrics.pauseBegan('outage');
  metrics.pauseWentOn('outage', 60);
  metrics.pauseWentOn('outage', 30);
  metrics.rescanned('docs');
  metrics.rescanned('docs');
  metrics.foundByRescan('docs');
  metrics.removed('docs');
  metrics.notificationEnded('sent');
  expect(await counters()).toEqual({
    ...zero,
    botsync_sent_bytes_total: 123,
    'botsync_uploads_total{source="docs",result="done"}': 1,
    'botsync_uploads_total{source="docs",result="failed"}': 1,
    'botsync_requests_total{operation="upsert",outcome="ok"}': 1,
    'botsync_requests_total{operation="upsert",outcome="transient"}': 1,
    'botsync_requests_total{operation="upload",outcome="ok"}': 1,
    'botsync_request_duration_seconds_count{operation="upsert"}': 2,
    'botsync_request_duration_seconds_sum{operation="upsert"}': 2.52,
    'botsync_request_duration_seconds_count{operation="upload"}': 1,
    'botsync_request_duration_seconds_sum{operation="upload"}': 5000,
    botsync_retries_total: 1,
    'botsync_pauses_total{reason="outage"}': 1,
    'botsync_pause_seconds_total{reason="outage"}': 90,
    'botsync_rescans_total{source="docs"}': 2,
    'botsync_rescan_only_changes_total{source="docs"}': 1,
    'botsync_removals_total{source="docs"}': 1,
    'botsync_notifications_total{outcome="sent"}': 1,
  });
  const all = await samples();
  expect(all.get('botsync_request_duration_seconds_bucket{le="0.03",operation="upsert"}')).toBe(1);
  expect(all.get('botsync_request_duration_seconds_bucket{le="3",operation="upsert"}')).toBe(2);
  expect(all.get('botsync_request_duration_seconds_bucket{le="1000",operation="upload"}')).toBe(0);
});

test('tells what runs, and what it uses', async () => {
  const { samples } = await world();
  const all = await samples();
  expect(all.get(`botsync_build_info{version="1.2.3",node="${process.versions.node}"}`)).toBe(1);
  const cpuSeconds = (process.cpuUsage().user + process.cpuUsage().system) / 1e6;
  expect(all.get('process_cpu_seconds_total')).toBeGreaterThan(cpuSeconds / 2);
  expect((await samples()).get('process_cpu_seconds_total')).toBeLessThan(cpuSeconds * 1.5);
  expect(all.get('process_resident_memory_bytes')).toBeGreaterThan(1e6);
  expect(all.get('process_start_time_seconds')).toBeCloseTo(Date.now() / 1000 - process.uptime(), -1);
  if (process.platform === 'linux') expect(all.get('process_open_fds')).toBeGreaterThan(2);
});

test('each instance counts for itself, and every metric says what it is', async () => {
  const [one, other] = [await world(DOCS), await world(DOCS)];
  one.metrics.sent(5);
  expect((await other.samples()).get('botsync_sent_bytes_total')).toBe(0);
  const { contentType, body } = await one.metrics.render();
  expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  const helped = [...body.matchAll(/^# HELP (\S+) .{3,}$/gmu)].map(([, name]) => name);
  const typed = [...body.matchAll(/^# TYPE (\S+) (?:counter|gauge|histogram)$/gmu)].map(([, name]) => name);
  expect(helped).toEqual(typed);
  expect(helped.length).toBeGreaterThan(18);
});

test('renders in a bundle as well, where its library is a part of its own', async () => {
  const outdir = temporaryDirectory();
  const { metafile } = await build({
    entryPoints: ['src/service/metrics.ts'],
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    metafile: true,
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  expect(Object.keys(metafile.outputs).length).toBeGreaterThan(1);
  const bundled = (await import(pathToFileURL(join(outdir, 'metrics.mjs')).href)) as {
    createMetrics: typeof createMetrics;
  };
  const { body } = await (await bundled.createMetrics('1.2.3', () => [DOCS])).render();
  expect(samplesOf(body).get('botsync_source_halted{source="docs"}')).toBe(1);
});
