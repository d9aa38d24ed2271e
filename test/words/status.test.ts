import { expect, test } from 'vitest';
import { describeSpan } from '../../src/words/quantity.ts';
import { describeStatus, type Runner } from '../../src/words/status.ts';
import { emptySummary } from '../../src/domain/report.ts';
import type { ServiceState, NotInSync, Overview } from '../../src/domain/status.ts';
import { withoutColour, type Paint } from '../../src/service/colour.ts';
import { EMPTY_SOURCE } from '../../src/sync/plan/overview.ts';
import { standingOf, withRetries } from '../../src/sync/plan/standing.ts';

const NOW = '2026-01-01T12:00:00.000Z';
const nowMs = Date.parse(NOW);
const at = (ms: number): string => new Date(nowMs + ms).toISOString();

const docs = { ...EMPTY_SOURCE, name: 'docs', files: 2, bytes: 10, searchable: 2 };
const calm: Overview = {
  sources: [docs],
  failures: [],
  lastPass: {
    ...{ finishedAt: at(-600_000), exitCode: 0 },
    summary: { ...emptySummary(), uploaded: 2, bytes: 10, durationMs: 1500 },
  },
  sinceLastPass: { sent: 0, sentBytes: 0, updated: 0, removed: 0, failed: 0, last: null },
  lastVerification: null,
  pause: null,
};
const daemon: Runner = {
  ...{ command: 'sync', pid: 12, since: at(-7_200_000) },
  ...{ activity: 'watching', isFirstPassOver: true, watchedDirectories: 1, queued: 0 },
  ...{ nextPass: at(240_000), failedAgain: at(240_000), renewalsAgain: null, outage: null },
};
const failing = (path: string, more: Partial<NotInSync> = {}): NotInSync => ({
  ...{
    source: 'docs',
    path,
    key: path,
    kind: 'failed',
    reason: '503 Unavailable',
    retry: 'pass',
    retryAt: null,
  },
  ...more,
});

const serviceOf = (runner: Runner | null): ServiceState => ({ kind: runner === null ? 'none' : 'running' });

function lines(
  overview: Partial<Overview>,
  runner: Runner | null = null,
  paint: Paint = withoutColour,
): string[] {
  const known = withRetries({ ...calm, ...overview }, runner, serviceOf(runner));
  const words = {
    nowMs,
    nextStep: 'botsync sync --once',
    commandEnd: ' -c b.json',
    isAsked: true,
    hasLedger: false,
    paint,
  };
  return describeStatus(known, standingOf(known, runner), runner, words);
}

test.each([
  ['ok', {}, 'ok<In sync, as of the last pass, 10 min ago>'],
  ['failure', { failures: [failing('a.md')] }, 'failure<NOT IN SYNC, as of the last pass, 10 min ago>'],
  [
    'halted',
    { sources: [{ ...docs, halted: 'empty' }] },
    'halted<NOT IN SYNC, as of the last pass, 10 min ago>',
  ],
])('the verdict is painted: %s', (_style, overview, verdict) => {
  expect(lines(overview, null, (style, text) => `${style}<${text}>`)[0]).toBe(verdict);
});

test('a host that hears of nobody has no sources to show, and says so without empty lines', () => {
  const cluster = {
    ...{ host: 'web1', trouble: 'the database is gone', held: [], units: [], hosts: [] },
    ...{ blocked: {}, failed: {} },
  };
  const known = { ...withRetries({ ...calm, sources: [] }, null, { kind: 'none' }), cluster };
  const words = {
    nowMs,
    nextStep: 'botsync sync --once',
    commandEnd: ' -c b.json',
    isAsked: true,
    hasLedger: true,
    paint: withoutColour,
  };
  expect(describeStatus(known, standingOf(known, null), null, words).slice(0, 6)).toEqual([
    'NOT IN SYNC',
    '',
    'Not in sync:',
    '  the database is gone',
    '',
    'Cluster: this host, web1, takes no part; how the sources stand that it does not sync is not known here',
  ]);
});

test('all is in sync', () => {
  expect(lines({})).toEqual([
    'In sync, as of the last pass, 10 min ago',
    '',
    'docs: 2 files in sync, 10 B (2 searchable)',
    '',
    'Last full pass: 10 min ago (2026-01-01T11:50:00.000Z)',
    '  2 uploaded, 10 B (1.5 s)',
  ]);
});

test('a service that works with an older configuration', () => {
  const configuration = { file: '/b.json', loadedAt: at(-7_200_000), problem: 'b.json:4:15: no value' };
  const told = (overview: Partial<Overview>) => lines(overview, { ...daemon, configuration });
  expect(told({}).slice(0, 4)).toEqual([
    'Service running with an older configuration. Everything is in sync with that one',
    'The configuration on disk cannot be loaded: b.json:4:15: no value; the one of 2026-01-01T10:00:00.000Z is in use',
    '',
    'docs: 2 files in sync, 10 B (2 searchable)',
  ]);
  const failed = told({ failures: [failing('a.md')] });
  expect(failed[0]).toBe('Service running with an older configuration. NOT IN SYNC');
  expect(failed.join('\n').match(/no value/gu)).toHaveLength(1);
});

test('a pause by a command, with what waits and how it ends', () => {
  const paused = (until: string | null): Runner => ({ ...daemon, pause: { since: at(-60_000), until } });
  const noon = new Date(nowMs).setHours(23, 59, 0, 0);
  const waits = { sources: [{ ...docs, pending: 11, toRemove: 1 }] };
  const text = lines(waits, paused(new Date(noon).toISOString()));
  expect(text.slice(0, 2)).toEqual([
    'Service running. NOT IN SYNC',
    'Paused until 23:59 by a command; 12 changes wait. Resume with: botsync resume -c b.json',
  ]);
  expect(text.join('\n')).not.toContain('Not in sync:');
  expect(text.join('\n')).not.toContain('watching for changes');
  expect(lines({}, paused(null)).slice(0, 2)).toEqual([
    'Service running. In sync',
    'Paused by a command; nothing waits. Resume with: botsync resume -c b.json',
  ]);
  expect(lines({}, paused(new Date(noon + 120_000).toISOString()))[1]).toMatch(
    /^Paused until \d{4}-\d\d-\d\d 00:01 by/u,
  );
});

test('without the service that should run, what is on record is as of its end', () => {
  const known = withRetries(calm, null, { kind: 'stopped', lastAlive: at(-180_000) });
  const words = { nowMs, nextStep: '', commandEnd: '', isAsked: true, paint: withoutColour };
  const told = (hasLedger: boolean) =>
    describeStatus(known, standingOf(known, null), null, { ...words, hasLedger }).slice(0, 2);
  expect(told(false)).toEqual([
    'NO SERVICE RUNNING, last seen alive 3 min ago (2026-01-01T11:57:00.000Z); this is as of then:',
    'Everything was in sync',
  ]);
  expect(told(true)[0]).toBe(
    'NO SERVICE RUNNING on this host, last seen alive 3 min ago (2026-01-01T11:57:00.000Z); this is what the ledger says:',
  );
});

test('what happened since the last pass, and when the next comes', () => {
  const sinceLastPass = { sent: 31, sentBytes: 2000, updated: 0, removed: 1, failed: 0, last: at(-12_000) };
  expect(lines({ sinceLastPass }, daemon).slice(3)).toEqual([
    '',
    'Running now: sync, process 12, for 2 h (since 2026-01-01T10:00:00.000Z)',
    '  watching for changes; 1 directory watched; next full pass in 4 min',
    'Last full pass: 10 min ago (2026-01-01T11:50:00.000Z)',
    '  2 uploaded, 10 B (1.5 s)',
    '  since then 31 sent (2 kB), 1 removed, the last 12 s ago',
  ]);
});

test('what is being done is no trouble, and not in sync yet', () => {
  const known = {
    sources: [{ ...docs, sending: 1 }],
    failures: [failing('a', { kind: 'sending', retry: 'sending' })],
  };
  const told = lines(known, { ...daemon, queued: 2 });
  expect(told[0]).toBe('Service running. Not in sync yet: 2 changes waiting, 1 file being sent');
  expect(told[2]).toBe('docs: 2 files in sync, 10 B (2 searchable); 1 being sent');
  expect(told.join('\n')).not.toContain('docs/a');
});

test('a halt is said once, with what lets it through', () => {
  const halted = {
    halted: 'too many',
    halt: { kind: 'mass-removal', digest: '1a', files: 12, first: ['a'] } as const,
  };
  const told = lines({ sources: [{ ...docs, ...halted, toRemove: 12 }] }, daemon);
  expect(told.slice(0, 4)).toEqual([
    'Service running. NOT IN SYNC',
    '',
    'docs: 2 files in sync, 10 B (2 searchable); 12 to remove from the platform',
    '  HALTED: too many; if that is right, run: botsync approve docs -c b.json',
  ]);
  expect(told.join('\n').match(/too many|halt/giu)).toHaveLength(2);
});

test('files that are not in sync are told by reason, each with when it is tried again', () => {
  const failures = [
    failing('a', { kind: 'refused', reason: '413 PayloadTooLarge', retry: 'change' }),
    ...['b', 'c', 'd', 'e', 'f', 'g'].map((path) => failing(path)),
    failing('h', { kind: 'problem', reason: 'cannot be read: EACCES' }),
    failing('i', { kind: 'problem', reason: 'no word for a day', retry: 'ask', retryAt: at(90_000) }),
  ];
  const told = lines({ failures }, daemon);
  expect(told.slice(told.indexOf('Not in sync:'), told.indexOf('Not in sync:') + 11)).toEqual([
    'Not in sync:',
    '  docs/a: refused: 413 PayloadTooLarge; retried when the file or its rules change',
    '  6 files: failed: 503 Unavailable; retried in 4 min',
    '    docs/b',
    '    docs/c',
    '    docs/d',
    '    docs/e',
    '    docs/f',
    '    … and 1 more; botsync ls --failed -c b.json lists them',
    '  docs/h: problem: cannot be read: EACCES; checked again in 4 min',
    '  docs/i: problem: no word for a day; the platform is asked again in 2 min',
  ]);
  expect(lines({ failures: [failing('a')] }).join('\n')).toContain(
    '503 Unavailable; retried by the next pass',
  );
});

test('what keeps many files from being sent is one trouble', () => {
  const outage = { since: at(-90_000), nextTry: at(20_000), reason: 'connection refused' };
  const failures = ['a', 'b'].map((path) => failing(path, { reason: 'connection refused' }));
  const told = lines({ failures }, { ...daemon, outage });
  expect(told.filter((line) => line.includes('connection refused'))).toEqual([
    '  THE PLATFORM IS UNREACHABLE for 2 min (since 2026-01-01T11:58:30.000Z): connection refused; retry in 20 s; 2 files waiting',
  ]);
  const refused = lines({ failures: [failing('a', { reason: '401 No' })] }, { ...daemon, refusal: '401 No' });
  expect(refused.filter((line) => line.includes('401'))).toEqual([
    '  the platform refuses the credentials: 401 No; 1 file waiting',
  ]);
});

test('before the first pass, and names with control characters', () => {
  expect(lines({ lastPass: null, sinceLastPass: null })).toEqual([
    'NOT IN SYNC: no pass has ended yet; run: botsync sync --once',
    '',
    'docs: 2 files in sync, 10 B (2 searchable)',
  ]);
  expect(lines({ failures: [failing('a\u001b[2J')] }).join('\n')).not.toContain('\u001b');
});

test.each([
  [-5, '0 s'],
  [400, '0 s'],
  [12_400, '12 s'],
  [59_600, '1 min'],
  [3_599_000, '1 h'],
  [86_400_000, '1 day'],
  [30 * 86_400_000, '30 days'],
])('%i ms are %s', (ms, text) => {
  expect(describeSpan(ms)).toBe(text);
});
