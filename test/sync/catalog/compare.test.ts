import { expect, test } from 'vitest';
import type { FileKey, RelativePath } from '../../../src/domain/key.ts';
import { stepAfter } from '../../../src/domain/confirmation.ts';
import type { ListedFile } from '../../../src/domain/file-catalog.ts';
import { markOf } from '../../../src/domain/mark.ts';
import { readStatus } from '../../../src/domain/platform-status.ts';
import { sentSettingsOf } from '../../../src/domain/settings.ts';
import type { FileRecord } from '../../../src/domain/record.ts';
import { compareFile } from '../../../src/sync/catalog/compare.ts';
import { DAY, HOUR, MINUTE, NOW, PLAIN, RECORD } from '../../domain/fixture.ts';

const SHA = Buffer.alloc(32, 7);
const OTHER_SHA = Buffer.alloc(32, 8);
const EXPIRY = Math.ceil(NOW / MINUTE) * MINUTE + DAY;

const SENT: FileRecord = {
  ...RECORD,
  key: 'docs/a.txt' as FileKey,
  path: 'a.txt' as RelativePath,
  sha256: SHA,
  settingsDigest: 'digest',
  remoteId: 'file_1',
  verdict: 'stored',
  isMarked: true,
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

/** What the platform was told, by digests. */
const TOLD = new Map([
  ['digest', sentSettingsOf(PLAIN)],
  ['indexed', sentSettingsOf({ ...PLAIN, index: true })],
]);

const UNMARKED = { metadata: {} };

/** What a row comes to: "same", "none", or the reason with what is noted. */
function outcome(sent: Partial<FileRecord>, listed: Partial<ListedFile> | null): string {
  const comparison = compareFile({ ...SENT, ...sent }, listed && { ...LISTED, ...listed }, {
    nowMs: NOW,
    toldSettings: (digest) => TOLD.get(digest) ?? null,
  });
  if (comparison.kind !== 'different') return comparison.kind;
  const { reason, noted } = comparison.difference;
  return noted === null ? reason : `${reason}, noted as ${noted}`;
}

test.each<readonly [string, Partial<FileRecord>, Partial<ListedFile> | null, string]>([
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
    { isMarked: false, verdict: null, sentAtMs: NOW - HOUR },
    { metadata: { botsync: markOf(OTHER_SHA, 'docs') } },
    'none',
  ],
  [
    'the mark of another content, where no mark was set, after it was confirmed',
    { isMarked: false },
    { metadata: { botsync: markOf(OTHER_SHA, 'docs') } },
    'replaced, noted as replaced',
  ],
  ['another size under our mark', {}, { sizeBytes: 4 }, 'size, noted as content'],
  [
    'another size where no mark was set',
    { isMarked: false },
    { ...UNMARKED, sizeBytes: 4 },
    'size, noted as content',
  ],
  ['refused', {}, { status: 'upload_failed' }, 'failed, noted as content'],
  ['not indexed, and not to be', {}, { status: 'indexing_failed' }, 'same'],
  ['not indexed', { settingsDigest: 'indexed' }, { status: 'indexing_failed', index: true }, 'failed'],
  ['searchable', {}, { status: 'indexing_completed' }, 'same'],
  ['a status that is not said for hours', { sentAtMs: NOW - HOUR }, { status: null }, 'same'],
  ['a status that is not said for days', {}, { status: null }, 'pending'],
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
  ['without a size for long', {}, { status: 'new', sizeBytes: null }, 'pending'],
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
  ['facts that are changing', { changing: 'other' }, { contentType: 'text/html' }, 'none'],
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
  ['left out, and changed', { absence: 'kept' }, UNMARKED, 'none'],
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
  [
    'our own file after a removal',
    { state: 'removing', expiresAtMs: NOW - MINUTE },
    { metadata: { botsync: markOf(OTHER_SHA, 'docs') } },
    'orphan',
  ],
  ['a removal that was begun', { state: 'removing', expiresAtMs: null }, {}, 'none'],
])('%s', (_what, sent, listed, expected) => {
  expect(outcome(sent, listed)).toBe(expected);
});

test('what is the same tells its id, its verdict and its mark', () => {
  const terms = { nowMs: NOW, toldSettings: (digest: string) => TOLD.get(digest) ?? null };
  const found = (sent: Partial<FileRecord>, listed: Partial<ListedFile>): unknown =>
    compareFile({ ...SENT, ...sent }, { ...LISTED, ...listed }, terms);
  expect(found({}, { id: 'file_2' })).toEqual({
    kind: 'same',
    found: { remoteId: 'file_2', verdict: 'stored', isMarked: true },
  });
  const indexed = { settingsDigest: 'indexed', sentAtMs: NOW };
  expect(
    found({ ...indexed, isMarked: false }, { ...UNMARKED, index: true, status: 'indexing_completed' }),
  ).toMatchObject({ found: { verdict: 'searchable', isMarked: false } });
  // What is to be indexed is not done with when it is stored, also where the answer does not say that it is.
  expect(found(indexed, { index: true })).toMatchObject({ found: { verdict: null } });
  expect(found(indexed, { index: null })).toMatchObject({ found: { verdict: null } });
});

test('says of every status what a confirmation says', () => {
  const statuses = [null, 'upload_pending', 'upload_failed', 'upload_completed', 'indexing_pending', 'new'];
  statuses.push('indexing_completed', 'indexing_failed');
  for (const status of statuses)
    for (const index of [true, false])
      for (const sizeBytes of [5, 4, null]) {
        const sent = { ...SENT, settingsDigest: index ? 'indexed' : 'digest', sentAtMs: NOW };
        const answer = { ...LISTED, status, index: null, sizeBytes };
        const terms = { nowMs: NOW, toldSettings: (digest: string) => TOLD.get(digest) ?? null };
        const step = stepAfter(readStatus(answer, sent, index), { ...sent, losses: 0 }, 5, NOW);
        const compared = compareFile(sent, answer, terms);
        const found = compared.kind === 'same' ? compared.found.verdict : null;
        if (step.kind === 'settle') {
          if (step.verdict !== 'unsearchable') expect(found).toBe(step.verdict);
          else expect(compared).toMatchObject({ difference: { reason: 'failed', noted: null } });
        } else expect(found).toBeNull();
        if (step.kind === 'lose') expect(compared).toMatchObject({ difference: { noted: 'content' } });
      }
});

test('the reason says which facts are others', () => {
  const terms = { nowMs: NOW, toldSettings: () => sentSettingsOf({ ...PLAIN, tags: { a: 'b' } }) };
  expect(compareFile(SENT, { ...LISTED, expiresAtMs: EXPIRY }, terms)).toMatchObject({
    difference: { detail: 'settings differ: tags, expiresAt' },
  });
});
