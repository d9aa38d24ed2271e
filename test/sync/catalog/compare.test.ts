import { expect, test } from 'vitest';
import type { FileKey, RelativePath } from '../../../src/domain/brands.ts';
import type { ListedFile } from '../../../src/domain/file-catalog.ts';
import { markOf } from '../../../src/domain/mark.ts';
import { toldOf } from '../../../src/domain/settings.ts';
import type { SentFile } from '../../../src/state/sent-files.ts';
import { compareFile } from '../../../src/sync/catalog/compare.ts';
import { DAY, HOUR, MINUTE, NOW, PLAIN } from '../../domain/fixture.ts';

const SHA = Buffer.alloc(32, 7);
const OTHER_SHA = Buffer.alloc(32, 8);
const EXPIRY = Math.ceil(NOW / MINUTE) * MINUTE + DAY;

const SENT: SentFile = {
  key: 'docs/a.txt' as FileKey,
  source: 'docs',
  path: 'a.txt' as RelativePath,
  state: 'synced',
  absence: null,
  sizeBytes: 5,
  sha256: SHA,
  settingsDigest: 'digest',
  expiresAtMs: null,
  failure: null,
  changedAtMs: NOW - DAY,
  sentAtMs: NOW - DAY,
  remoteId: 'file_1',
  verdict: 'stored',
  isMarked: true,
  isChanging: false,
  differs: null,
  isUploaded: true,
};

const LISTED: ListedFile = {
  id: 'file_1',
  key: 'docs/a.txt',
  sizeBytes: 5,
  status: 'upload_completed',
  failedReason: null,
  contentType: 'text/plain',
  tags: {},
  metadata: { botsync: markOf(SHA, 'docs') },
  accessPolicies: [],
  index: false,
  expiresAtMs: null,
  ownerType: 'bot',
};

const UNMARKED = { metadata: {} };

/** What a row comes to: "same", "none", or the reason with what is noted. */
function outcome(sent: Partial<SentFile>, listed: Partial<ListedFile> | null): string {
  const comparison = compareFile({ ...SENT, ...sent }, listed && { ...LISTED, ...listed }, {
    nowMs: NOW,
    toldSettings: (digest) => (digest === 'digest' ? toldOf(PLAIN) : null),
  });
  if (comparison.kind !== 'different') return comparison.kind;
  const { reason, noted } = comparison.difference;
  return noted === null ? reason : `${reason}, noted as ${noted}`;
}

test.each<readonly [string, Partial<SentFile>, Partial<ListedFile> | null, string]>([
  ['as it was sent', {}, {}, 'same'],
  ['nothing there', {}, null, 'missing, noted as content'],
  ['another id under our mark', {}, { id: 'file_2' }, 'same'],
  ['the mark of another source', {}, { metadata: { botsync: markOf(SHA, 'other') } }, 'same'],
  ['our mark is gone', {}, UNMARKED, 'replaced, noted as replaced'],
  [
    'our mark is gone, and the size is another',
    {},
    { ...UNMARKED, sizeBytes: 9 },
    'replaced, noted as replaced',
  ],
  [
    'the mark of another content',
    {},
    { metadata: { botsync: markOf(OTHER_SHA, 'docs') } },
    'replaced, noted as replaced',
  ],
  ['no mark was set', { isMarked: false }, UNMARKED, 'same'],
  [
    'no mark was set, another id',
    { isMarked: false },
    { ...UNMARKED, id: 'file_2' },
    'replaced, noted as replaced',
  ],
  ['no mark was set, no id was told', { isMarked: false, remoteId: null }, { ...UNMARKED, id: 'f' }, 'same'],
  [
    'the mark of the content before, as that of this is still to be set',
    { isMarked: false },
    { metadata: { botsync: markOf(OTHER_SHA, 'docs') } },
    'same',
  ],
  ['another size under our mark', {}, { sizeBytes: 4 }, 'size, noted as content'],
  [
    'another size where no mark was set',
    { isMarked: false },
    { ...UNMARKED, sizeBytes: 4 },
    'size, noted as content',
  ],
  ['refused', {}, { status: 'upload_failed' }, 'failed, noted as content'],
  ['not indexed', {}, { status: 'indexing_failed' }, 'failed'],
  ['searchable', {}, { status: 'indexing_completed' }, 'same'],
  ['a status that is not said', {}, { status: null }, 'same'],
  [
    'pending for a moment',
    { sentAtMs: NOW - 9 * MINUTE },
    { status: 'upload_pending', sizeBytes: null },
    'none',
  ],
  [
    'pending for long',
    { sentAtMs: NOW - 11 * MINUTE },
    { status: 'upload_pending' },
    'pending, noted as content',
  ],
  ['without a size for long', {}, { status: 'new', sizeBytes: null }, 'pending, noted as content'],
  ['being indexed for hours', { sentAtMs: NOW - 23 * HOUR }, { status: 'indexing_pending' }, 'same'],
  ['being indexed for days', { sentAtMs: NOW - 25 * HOUR }, { status: 'indexing_in_progress' }, 'pending'],
  [
    'being indexed for days, as an older botsync sent it',
    { sentAtMs: null, changedAtMs: NOW - 25 * HOUR },
    { status: 'indexing_in_progress' },
    'pending',
  ],
  ['another type', {}, { contentType: 'text/html' }, 'facts, noted as facts'],
  ['another expiry', { expiresAtMs: EXPIRY }, { expiresAtMs: EXPIRY + MINUTE }, 'facts, noted as facts'],
  ['an expiry where there is none', {}, { expiresAtMs: EXPIRY }, 'facts, noted as facts'],
  ['the expiry that was sent', { expiresAtMs: EXPIRY }, { expiresAtMs: EXPIRY }, 'same'],
  ['facts that are changing', { isChanging: true }, { contentType: 'text/html' }, 'none'],
  [
    'facts of which is not known what was told',
    { settingsDigest: 'old' },
    { contentType: 'text/html' },
    'same',
  ],
  ['let expire, and gone', { expiresAtMs: NOW }, null, 'none'],
  ['on its way', { state: 'sending' }, null, 'none'],
  ['failed', { state: 'failed', failure: 'no' }, {}, 'unsent'],
  ['refused before', { state: 'refused', failure: 'no' }, null, 'unsent'],
  ['kept, though gone here', { absence: 'removed' }, null, 'none'],
  ['left out, and changed', { absence: 'set-aside' }, UNMARKED, 'none'],
  [
    'a tombstone that is still there',
    { state: 'removing', expiresAtMs: NOW - 2 * HOUR },
    { ...UNMARKED, sizeBytes: 0, expiresAtMs: NOW - 2 * HOUR },
    'not-removed',
  ],
  [
    'a tombstone that has just expired',
    { state: 'removing', expiresAtMs: NOW - MINUTE },
    { ...UNMARKED, sizeBytes: 0, expiresAtMs: NOW - MINUTE },
    'none',
  ],
  ['a tombstone that is gone', { state: 'removing', expiresAtMs: NOW - 2 * HOUR }, null, 'none'],
  [
    "somebody's file after a tombstone",
    { state: 'removing', expiresAtMs: NOW - 2 * HOUR },
    { ...UNMARKED, sizeBytes: 4 },
    'none',
  ],
  ['a removal that was begun', { state: 'removing', expiresAtMs: null }, {}, 'none'],
])('%s', (_what, sent, listed, expected) => {
  expect(outcome(sent, listed)).toBe(expected);
});

test('what is the same tells its id, its verdict and its mark', () => {
  const terms = { nowMs: NOW, toldSettings: () => null };
  const found = (sent: Partial<SentFile>, listed: Partial<ListedFile>): unknown =>
    compareFile({ ...SENT, ...sent }, { ...LISTED, ...listed }, terms);
  expect(found({}, { id: 'file_2' })).toEqual({
    kind: 'same',
    found: { remoteId: 'file_2', verdict: 'stored', isMarked: true },
  });
  expect(found({ isMarked: false }, { ...UNMARKED, status: 'indexing_completed' })).toMatchObject({
    found: { verdict: 'searchable', isMarked: false },
  });
  // What is to be indexed is not done with when it is stored.
  expect(found({ sentAtMs: NOW }, { index: true })).toMatchObject({ found: { verdict: null } });
});

test('the reason says which facts are others', () => {
  const terms = { nowMs: NOW, toldSettings: () => toldOf({ ...PLAIN, tags: { a: 'b' } }) };
  expect(compareFile(SENT, { ...LISTED, expiresAtMs: EXPIRY }, terms)).toMatchObject({
    difference: { detail: 'settings differ: tags, expiresAt' },
  });
});
