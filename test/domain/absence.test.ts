import { expect, test } from 'vitest';
import { fateOf, type AbsentFile, type Fate } from '../../src/domain/absence.ts';
import type { Absence } from '../../src/domain/record.ts';

const synced: AbsentFile = { state: 'synced', uploaded: true, expiresAtMs: null };
const neverSent: AbsentFile = { state: 'failed', uploaded: false, expiresAtMs: null };
const failedLater: AbsentFile = { state: 'failed', uploaded: true, expiresAtMs: null };
const sending: AbsentFile = { state: 'sending', uploaded: false, expiresAtMs: 1 };
const removing: AbsentFile = { state: 'removing', uploaded: true, expiresAtMs: null };
const putAway: AbsentFile = { state: 'removing', uploaded: true, expiresAtMs: 1 };

test.each<[string, AbsentFile, Absence | null, Fate, Fate]>([
  ['in sync', synced, null, 'unknown', 'unknown'],
  ['in sync', synced, 'removed', 'keep', 'remove'],
  ['in sync', synced, 'set-aside', 'keep', 'keep'],
  ['never sent', neverSent, null, 'unknown', 'unknown'],
  ['never sent', neverSent, 'removed', 'forget', 'forget'],
  ['never sent', neverSent, 'set-aside', 'none', 'none'],
  ['failed after it was sent', failedLater, 'removed', 'keep', 'remove'],
  ['perhaps sent', sending, 'removed', 'keep', 'remove'],
  ['perhaps sent', sending, 'set-aside', 'keep', 'keep'],
  ['half removed', removing, 'removed', 'keep', 'remove'],
  ['put away', putAway, 'removed', 'tombstone', 'tombstone'],
])(
  'a file that was %s, now absent (%o, %s): %s, or %s in mode "expire"',
  (_, file, absence, keep, expire) => {
    expect([fateOf(file, absence, 'keep'), fateOf(file, absence, 'expire')]).toEqual([keep, expire]);
  },
);
