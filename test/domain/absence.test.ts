import { expect, test } from 'vitest';
import {
  absenceActionOf,
  type AbsentFile,
  type AbsenceAction,
  type Absence,
} from '../../src/domain/record.ts';

const synced: AbsentFile = { state: 'synced', uploaded: true, expiresAtMs: null, absence: null };
const neverSent: AbsentFile = { state: 'failed', uploaded: false, expiresAtMs: null, absence: null };
const failedLater: AbsentFile = { state: 'failed', uploaded: true, expiresAtMs: null, absence: null };
const sending: AbsentFile = { state: 'sending', uploaded: false, expiresAtMs: 1, absence: null };
const removing: AbsentFile = { state: 'removing', uploaded: true, expiresAtMs: null, absence: null };
const keptBefore: AbsentFile = { ...synced, absence: 'kept' };
const pruned: AbsentFile = { ...synced, absence: 'pruned' };
const orphan: AbsentFile = { ...synced, absence: 'orphan' };
const putAway: AbsentFile = { state: 'removing', uploaded: true, expiresAtMs: 1, absence: null };

test.each<[string, AbsentFile, Absence | null, AbsenceAction, AbsenceAction]>([
  ['in sync', synced, null, 'unknown', 'unknown'],
  ['in sync', synced, 'removed', 'keep', 'remove'],
  ['in sync', synced, 'kept', 'keep', 'keep'],
  ['kept before', keptBefore, 'removed', 'keep', 'keep'],
  ['kept, and pruned since', pruned, 'removed', 'remove', 'remove'],
  ['kept, and pruned since', pruned, 'kept', 'remove', 'remove'],
  ['kept, and pruned since', pruned, null, 'unknown', 'unknown'],
  ['found without a record', orphan, 'removed', 'remove', 'remove'],
  ['found without a record', orphan, 'kept', 'keep', 'keep'],
  ['never sent', neverSent, null, 'unknown', 'unknown'],
  ['never sent', neverSent, 'removed', 'forget', 'forget'],
  ['never sent', neverSent, 'kept', 'none', 'none'],
  ['failed after it was sent', failedLater, 'removed', 'keep', 'remove'],
  ['perhaps sent', sending, 'removed', 'keep', 'remove'],
  ['perhaps sent', sending, 'kept', 'keep', 'keep'],
  ['half removed', removing, 'removed', 'keep', 'remove'],
  ['put away', putAway, 'removed', 'tombstone', 'tombstone'],
])(
  'a file that was %s, now absent (%o, %s): %s, or %s in mode "expire"',
  (_, file, absence, keep, expire) => {
    expect([absenceActionOf(file, absence, 'keep'), absenceActionOf(file, absence, 'expire')]).toEqual([
      keep,
      expire,
    ]);
  },
);
