import { describe, expect, test } from 'vitest';
import { describeObstacle } from '../../../src/words/obstacle.ts';
import type { ServiceState, NotInSync, Overview, Running } from '../../../src/domain/status.ts';
import { standingOf, withRetries } from '../../../src/sync/plan/standing.ts';
import { emptySummary } from '../../../src/domain/report.ts';
import { EMPTY_SOURCE } from '../../../src/sync/plan/overview.ts';

const AT = '2026-01-01T00:00:00.000Z';
const SOON = '2026-01-01T00:01:00.000Z';
const LATER = '2026-01-01T00:15:00.000Z';

const docs = { ...EMPTY_SOURCE, name: 'docs', files: 3 };
const passOf = (exitCode: number, pending = 0) => ({
  ...{ finishedAt: AT, exitCode },
  summary: { ...emptySummary(), pending },
});
const calm: Overview = {
  sources: [docs],
  failures: [],
  lastPass: passOf(0),
  sinceLastPass: null,
  lastVerification: null,
  pause: null,
};
const failed: NotInSync = {
  ...{ source: 'docs', path: 'a', key: 'a', kind: 'failed', reason: '503 Unavailable' },
  ...{ retry: 'pass', retryAt: null },
};
const daemon: Running = {
  activity: 'watching',
  isFirstPassOver: true,
  queued: 0,
  outage: null,
  refusal: null,
  shortage: null,
  nextPass: SOON,
  failedAgain: LATER,
  renewalsAgain: AT,
  trouble: null,
};
const pause = { since: AT, until: LATER };
const held: NotInSync = {
  ...failed,
  ...{ kind: 'pending', reason: describeObstacle({ kind: 'waiting', cause: { kind: 'paused' } }) },
};
const outage = { since: AT, nextTry: SOON, reason: 'connection refused' };

const BROKEN = { file: '/b.json', loadedAt: AT, problem: 'b.json:4:15: no value' };
const NONE: ServiceState = { kind: 'none' };

/** The exit code with the kinds of the troubles. */
function told(overview: Partial<Overview>, running: Running | null, service: ServiceState = NONE): string {
  const known = withRetries({ ...calm, ...overview }, running, service);
  const { exitCode, troubles } = standingOf(known, running);
  return [exitCode, ...troubles.map(({ kind }) => kind)].join(' ');
}

describe('the exit code, and each trouble once', () => {
  test.each<[string, Partial<Overview>, Running | null, string]>([
    ['everything was sent', {}, null, '0'],
    ['a daemon watches', {}, daemon, '0'],
    ['a daemon looks again at everything', {}, { ...daemon, activity: 'pass' }, '0'],
    ['some is being indexed', { sources: [{ ...docs, unconfirmed: 2 }] }, daemon, '0'],
    ['removals wait for their time', { sources: [{ ...docs, toRemove: 2, kept: 1 }] }, daemon, '0'],
    ['nothing waits in a pause', {}, { ...daemon, pause }, '0 paused'],
    ['a removal waits in a pause', { sources: [{ ...docs, toRemove: 1 }] }, { ...daemon, pause }, '3 paused'],
    [
      'a change waits in a pause, and a file was refused',
      {
        sources: [{ ...docs, pending: 1 }],
        failures: [held, { ...failed, kind: 'refused', retry: 'change' }],
      },
      { ...daemon, pause },
      '3 paused files',
    ],
    ['the records are of before the end of a pause', { pause }, { ...daemon, pause: null }, '0'],
    ['only the records know of a pause', { pause }, null, '0 paused'],
    ['no pass has ended', { lastPass: null }, null, '3 no-pass'],
    ['the last pass was interrupted', { lastPass: passOf(130) }, null, '3 interrupted'],
    ['it left out new files', { lastPass: passOf(3, 2) }, null, '3 left-out'],
    [
      'it left out files on record',
      { lastPass: passOf(3, 1), failures: [{ ...failed, kind: 'pending' }] },
      null,
      '3 files',
    ],
    ['what it left out is over', { lastPass: passOf(3, 2) }, daemon, '0'],
    ['what failed is over', { lastPass: passOf(3) }, daemon, '0'],
    ['a file failed', { failures: [failed] }, null, '3 files'],
    ['the configuration on disk is wrong', {}, { ...daemon, configuration: BROKEN }, '2 configuration'],
    [
      'the configuration on disk is wrong, and a file failed',
      { failures: [failed] },
      { ...daemon, configuration: BROKEN },
      '2 configuration files',
    ],
    [
      'the configuration is the one on disk',
      {},
      { ...daemon, configuration: { ...BROKEN, problem: null } },
      '0',
    ],
    ['two files failed alike', { failures: [failed, { ...failed, path: 'b' }] }, null, '3 files'],
    [
      'two files failed for two reasons',
      { failures: [failed, { ...failed, path: 'b', reason: 'no' }] },
      daemon,
      '3 files files',
    ],
    [
      'a file was being sent',
      { failures: [{ ...failed, kind: 'sending', retry: 'sending' }] },
      null,
      '3 files',
    ],
    [
      'a file is being sent',
      { sources: [{ ...docs, sending: 1 }], failures: [{ ...failed, kind: 'sending', retry: 'sending' }] },
      daemon,
      '3',
    ],
    ['a change waits', {}, { ...daemon, queued: 1 }, '3'],
    ['a daemon makes its first pass', {}, { ...daemon, activity: 'pass', isFirstPassOver: false }, '3'],
    ['a daemon starts', { sources: [], lastPass: null }, { isFirstPassOver: false }, '3'],
    ['a single pass is made', { lastPass: passOf(130) }, {}, '3'],
    [
      'a daemon has no state file',
      { sources: [], lastPass: null },
      { isFirstPassOver: false, trouble: 'disk' },
      '3 state-file',
    ],
    ['a renewal is late', { sources: [{ ...docs, expiring: 1 }] }, daemon, '3 expiring'],
    ['a source is halted', { sources: [{ ...docs, halted: 'gone' }] }, daemon, '5 halted'],
    [
      'a source is halted and a file of it failed',
      { sources: [{ ...docs, halted: 'gone' }], failures: [failed] },
      null,
      '5 halted files',
    ],
    [
      'credentials are refused',
      { failures: [{ ...failed, reason: 'changed, and not sent yet: 401 Unauthorized' }] },
      { ...daemon, refusal: '401 Unauthorized' },
      '4 credentials',
    ],
    ['they were, by the last pass', { lastPass: passOf(4) }, null, '4 credentials'],
    [
      'they were, before the daemon began',
      { lastPass: passOf(4) },
      { isFirstPassOver: false },
      '4 credentials',
    ],
    ['they were, and are taken again', { lastPass: passOf(4) }, daemon, '0'],
    [
      'credentials are refused and a source is halted',
      { sources: [{ ...docs, halted: 'gone' }] },
      { ...daemon, refusal: '401' },
      '4 credentials halted',
    ],
    [
      'the quota is used up',
      { failures: [{ ...failed, reason: '402 QuotaExceeded' }] },
      { ...daemon, shortage: '402 QuotaExceeded' },
      '3 quota',
    ],
    [
      'the platform is unreachable',
      { failures: [{ ...failed, reason: 'connection refused' }] },
      { ...daemon, outage },
      '3 outage',
    ],
    [
      'the same, and a file was refused before',
      { failures: [{ ...failed, kind: 'refused', reason: '413: connection refused', retry: 'change' }] },
      { ...daemon, outage },
      '3 outage files',
    ],
  ])('%s', (_case, overview, running, expected) => {
    expect(told(overview, running)).toBe(expected);
  });
});

test.each<[string, ServiceState, string]>([
  ['only single passes use the state file', NONE, '0'],
  ['the service does not run any more', { kind: 'stopped', lastAlive: AT }, '3'],
  ['the service gives no answer', { kind: 'silent', reason: 'it is busy' }, '3'],
])('whether everything is in sync by what is on record: %s', (_case, service, expected) => {
  expect(told({}, null, service)).toBe(expected);
});

test('what a trouble keeps from being sent is counted with it', () => {
  const running = { ...daemon, outage };
  const failures = ['a', 'b'].map((path) => ({ ...failed, path, reason: 'connection refused' }));
  const { troubles } = standingOf(withRetries({ ...calm, failures }, running, NONE), running);
  expect(troubles).toEqual([{ kind: 'outage', ...outage, waiting: 2 }]);
});

describe('when a failure is tried again', () => {
  test.each<[string, Partial<NotInSync>, Running | null, string, string | null]>([
    ['it failed, and nothing runs', {}, null, 'pass', null],
    ['it failed, and a single pass runs', {}, {}, 'pass', null],
    ['it failed', {}, daemon, 'pass', LATER],
    ['it is being tried by a pass', {}, { ...daemon, failedAgain: null }, 'now', null],
    ['it cannot be read', { kind: 'problem' }, daemon, 'pass', SOON],
    ['it is to be renewed', { retry: 'renewal' }, daemon, 'pass', AT],
    [
      'it is to be renewed, by a pass before',
      { retry: 'renewal' },
      { ...daemon, renewalsAgain: null },
      'pass',
      LATER,
    ],
    ['the platform lost it', { retry: 'resend', retryAt: AT }, daemon, 'pass', AT],
    ['the platform lost it, and nothing runs', { retry: 'resend', retryAt: AT }, null, 'pass', null],
    ['the platform is silent', { kind: 'problem', retry: 'ask', retryAt: AT }, daemon, 'ask', AT],
    ['the platform is silent, and nothing runs', { retry: 'ask', retryAt: AT }, null, 'ask', null],
    ['it was refused', { kind: 'refused', retry: 'change' }, daemon, 'change', null],
    ['it is being sent', { kind: 'sending', retry: 'sending' }, daemon, 'now', null],
    ['it was being sent', { kind: 'sending', retry: 'sending' }, null, 'pass', null],
    ['there is an outage', {}, { ...daemon, outage }, 'outage', SOON],
    ['it stands by in an outage', { retry: 'sending' }, { ...daemon, outage }, 'outage', SOON],
  ])('%s', (_case, failure, running, retry, retryAt) => {
    const known = withRetries({ ...calm, failures: [{ ...failed, ...failure }] }, running, NONE);
    expect(known.failures).toMatchObject([{ retry, retryAt }]);
  });

  test('its source is halted', () => {
    const halted = { ...calm, sources: [{ ...docs, halted: 'gone' }], failures: [failed] };
    expect(withRetries(halted, daemon, NONE).failures).toMatchObject([{ retry: 'halt', retryAt: null }]);
  });
});
