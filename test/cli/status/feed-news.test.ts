import { expect, test } from 'vitest';
import { newsOf, type FeedNews, type SeenService as Seen } from '../../../src/cli/status/terminal-status.ts';
import { restMs } from '../../../src/cli/commands/status.ts';

const holder = { pid: 12, host: 'here', command: 'sync' };
const service: Seen = {
  known: { service: { kind: 'running' } },
  daemon: { ...holder, since: '2026-01-01T12:00:00.000Z' },
};
const restarted: Seen = { ...service, daemon: { ...holder, since: '2026-01-01T12:00:09.000Z' } };
const alone: Seen = {
  known: { service: { kind: 'stopped', lastAlive: '2026-01-01T12:00:00.000Z' } },
  daemon: null,
};
const silent: Seen = { known: { service: { kind: 'silent', reason: 'it is busy' } }, daemon: null };

/** What is said after each of these, two seconds apart. */
function told(...all: Seen[]): (string | null)[] {
  let news: FeedNews | null = null;
  return all.map((one, at) => {
    news = newsOf(all[at - 1] ?? null, one, news, Date.parse('2026-01-01T12:00:00.000Z') + at * 2000);
    return news?.text.replace(/ at \d\d:\d\d:(\d\d)/u, ' at :$1') ?? null;
  });
}

test('a service that goes and comes back', () => {
  const started = 'The service started at :06';
  expect(told(service, alone, alone, service, service)).toEqual([null, null, null, started, started]);
});

test('a service that does not answer, and one that never was', () => {
  expect(told(service, silent, silent, service)).toEqual([
    null,
    null,
    null,
    'The service answered again at :06',
  ]);
  expect(told(silent, alone, alone)).toEqual([null, null, null]);
});

test('a service that was restarted between two questions; that is old after a minute', () => {
  const news = told(service, restarted, ...Array.from({ length: 31 }, () => restarted));
  expect(news.slice(0, 2)).toEqual([null, 'The service was restarted at :02']);
  expect(news[30]).toBe('The service was restarted at :02');
  expect(news[31]).toBeNull();
});

test.each([
  ['a fast answer', 2000, 3, 2000],
  ['a slow one is asked for less often', 2000, 200, 10_000],
  ['but not for ever', 2000, 5000, 30_000],
  ['whoever asks seldom is not made to ask more often', 60_000, 5000, 60_000],
])('%s', (_what, intervalMs, tookMs, expected) => {
  expect(restMs(intervalMs, tookMs)).toBe(expected);
});
