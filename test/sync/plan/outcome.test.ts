import { describe, expect, test } from 'vitest';
import type { FileKey, RelativePath } from '../../../src/domain/key.ts';
import type { FileRecord } from '../../../src/domain/record.ts';
import {
  outcomeOf,
  outcomeOfSend,
  type KnownFile,
  type ItemOutcome,
} from '../../../src/sync/plan/outcome.ts';
import type { PlanItem, PlannedSend } from '../../../src/sync/plan/plan-item.ts';
import { fingerprint, PLAIN, RECORD } from '../../domain/fixture.ts';
import type { Obstacle } from '../../../src/domain/obstacle.ts';

const place = { path: 'a' as RelativePath, key: 'k/a' as FileKey };
const found = fingerprint({ size: 6n });
const record: FileRecord = { ...RECORD, ...place };
const sent: KnownFile = { state: 'synced', uploaded: true, expiresAtMs: null, failure: null, absence: null };
const neverSent: KnownFile = { ...sent, state: 'failed', uploaded: false };
const refused = { ...record, state: 'refused' as const };
const problem = {
  kind: 'problem',
  path: place.path,
  reason: { kind: 'name-not-utf8' },
  hidesFiles: false,
} as const;
const said = { record, fingerprint: found, reason: { kind: 'backslash-in-key' } } as const;

/** Of an outcome what is not nothing; an event as its kind, key and reason. */
function written({ counts, event, unsent, absence, absenceAction }: ItemOutcome): Record<string, unknown> {
  const all = {
    counts,
    event: event && `${event.kind} ${event.path} (${event.key ?? '-'}): ${event.reason}`,
    unsent,
    absenceAction,
  };
  const some = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
  return absence === undefined ? some : { ...some, absence };
}

type Item = Exclude<PlanItem, PlannedSend>;

test.each<[string, Item, KnownFile | null, Record<string, unknown>]>([
  ['a breath', { kind: 'tick' }, null, {}],
  [
    'an unchanged file',
    { kind: 'unchanged', ...place, record, renewAtMs: null },
    null,
    { counts: 'unchanged', absence: null },
  ],
  [
    'one that was refused as it is',
    { kind: 'hold', ...place, record: refused },
    { ...neverSent, state: 'refused', failure: '400' },
    {
      counts: 'refused',
      event: 'refuse a (k/a): refused before: 400',
      unsent: record.fingerprint,
      absence: null,
    },
  ],
  [
    'one whose record is gone meanwhile',
    { kind: 'hold', ...place, record: refused },
    null,
    {
      counts: 'refused',
      event: 'refuse a (k/a): refused before: unknown',
      unsent: record.fingerprint,
      absence: null,
    },
  ],
  [
    'one that failed as it is',
    { kind: 'hold', ...place, record: { ...record, state: 'failed' } },
    neverSent,
    { counts: 'failed', unsent: record.fingerprint, absence: null },
  ],
  [
    'a refused file',
    { kind: 'refuse', ...place, ...said },
    null,
    {
      counts: 'refused',
      event: 'refuse a (k/a): the key has a backslash, which the platform may refuse; rename the file',
      unsent: found,
    },
  ],
  [
    'a file that is skipped by a rule',
    { kind: 'skip', ...place, ...said },
    null,
    {
      counts: 'skipped',
      event: 'skip a (k/a): the key has a backslash, which the platform may refuse; rename the file',
      absence: 'kept',
    },
  ],
  [
    'what is no file',
    { kind: 'pass-over', path: place.path, reason: 'a pipe' },
    null,
    { counts: 'skipped', event: 'skip a (-): a pipe' },
  ],
  [
    'a file whose key another has',
    { ...problem, key: place.key, fingerprint: found },
    null,
    { counts: 'problems', event: 'problem a (k/a): the name is not valid UTF-8; rename it', unsent: found },
  ],
  [
    'a name that cannot be sent',
    { ...problem, key: null },
    null,
    { counts: 'problems', event: 'problem a (-): the name is not valid UTF-8; rename it' },
  ],
  [
    'a file that cannot be seen',
    { kind: 'absent', record, absence: null },
    sent,
    { absenceAction: 'unknown' },
  ],
  [
    'a removed file whose record is gone meanwhile',
    { kind: 'absent', record, absence: 'removed' },
    null,
    { absenceAction: 'unknown' },
  ],
  [
    'a removed file that was never sent',
    { kind: 'absent', record, absence: 'removed' },
    neverSent,
    { absence: 'removed', absenceAction: 'forget' },
  ],
  [
    'a file left out that was never sent',
    { kind: 'absent', record, absence: 'kept' },
    neverSent,
    { absence: 'kept', absenceAction: 'none' },
  ],
  [
    'a removed file with a tombstone',
    { kind: 'absent', record, absence: 'removed' },
    { ...sent, state: 'removing', expiresAtMs: 1 },
    { absence: 'removed', absenceAction: 'tombstone' },
  ],
  [
    'a removed file',
    { kind: 'absent', record, absence: 'removed' },
    sent,
    { absence: 'removed', absenceAction: 'remove' },
  ],
  [
    'a removed file that was kept before',
    { kind: 'absent', record, absence: 'removed' },
    { ...sent, absence: 'kept' },
    { counts: 'kept', absence: 'kept', absenceAction: 'keep' },
  ],
  [
    'a file left out',
    { kind: 'absent', record, absence: 'kept' },
    sent,
    { counts: 'kept', absence: 'kept', absenceAction: 'keep' },
  ],
])('where removals are carried out, %s', (_what, item, known, outcome) => {
  expect(written(outcomeOf(item, known, 'expire'))).toEqual(outcome);
});

test('where they are not, a removed file is kept', () => {
  const outcome = outcomeOf({ kind: 'absent', record, absence: 'removed' }, sent, 'keep');
  expect(written(outcome)).toEqual({ counts: 'kept', absence: 'kept', absenceAction: 'keep' });
});

describe('a file that may have to be sent', () => {
  const ruled = { settings: PLAIN, digest: 's' };
  const send: PlannedSend = {
    ...{ kind: 'send', ...place, reason: 'new', fingerprint: found, trusted: true, sizeBytes: 6 },
    ...{ ruled, resolved: ruled, record: null, isInPlace: false, found: null },
  };
  const verify: PlannedSend = { ...send, kind: 'verify', reason: 'touched', record };

  test.each<[string, PlannedSend, boolean, Obstacle | null, Record<string, unknown>]>([
    ['is uploaded', send, false, null, { counts: 'uploaded', event: 'upload a (k/a): new', absence: null }],
    [
      'is renewed',
      { ...send, reason: 'renewal-due' },
      false,
      null,
      { counts: 'renewed', event: 'renew a (k/a): renewal-due', absence: null },
    ],
    ['is the same', verify, true, null, { counts: 'unchanged', absence: null }],
    [
      'is another after all',
      verify,
      false,
      null,
      { counts: 'uploaded', event: 'upload a (k/a): changed', absence: null },
    ],
    [
      'cannot be read',
      verify,
      false,
      { kind: 'unreadable', code: 'EACCES' },
      { counts: 'problems', event: 'problem a (k/a): cannot be read: EACCES', unsent: found, absence: null },
    ],
  ])('%s', (_what, item, isSame, unreadable, outcome) => {
    expect(written(outcomeOfSend(item, isSame, unreadable))).toEqual(outcome);
  });
});
