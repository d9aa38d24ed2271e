import { expect, test } from 'vitest';
import type { FileKey } from '../../src/domain/key.ts';
import type { CatalogFile } from '../../src/domain/file-catalog.ts';
import { markOf } from '../../src/domain/mark.ts';
import type { ReplacementSign } from '../../src/domain/obstacle.ts';
import { ownershipOf, type PutFile } from '../../src/domain/put-file.ts';

const CONTENT = Buffer.alloc(32, 1);
const OTHER = Buffer.alloc(32, 2);
const MARKED = { botsync: markOf(CONTENT, 'docs') };

const there = (changed: Partial<CatalogFile>): CatalogFile => ({
  id: 'file_1',
  key: 'a.md',
  sizeBytes: 5,
  status: 'upload_completed',
  failedReason: null,
  contentType: 'text/markdown',
  tags: {},
  metadata: {},
  accessPolicies: [],
  index: false,
  expiresAtMs: null,
  ownerType: 'bot',
  url: null,
  ...changed,
});

const put = (changed: Partial<PutFile>): PutFile => ({
  key: 'a.md' as FileKey,
  source: 'docs',
  remoteId: 'file_1',
  sha256: CONTENT,
  sizeBytes: 5,
  triedBytes: 5,
  isMarked: false,
  ...changed,
});

const OURS = { kind: 'ours' };
const UNTOLD = { kind: 'untold' };
const replaced = (sign: ReplacementSign): unknown => ({ kind: 'replaced', sign });

test.each([
  ['the mark of the content', { metadata: MARKED }, { isMarked: true }, OURS],
  ['a mark that was set, and not recorded', { metadata: MARKED }, {}, OURS],
  [
    'its mark, whatever its size and other facts',
    { metadata: MARKED, sizeBytes: null, index: true },
    {},
    OURS,
  ],
  [
    'its mark under the name of an earlier source',
    { metadata: { botsync: markOf(CONTENT, 'old') } },
    {},
    OURS,
  ],
  ['its mark, of an id that was not told', { metadata: MARKED }, { remoteId: null }, OURS],
  [
    'the mark of another content',
    { metadata: { botsync: markOf(OTHER, 'docs') } },
    { isMarked: true },
    replaced({ kind: 'mark-of-other-content' }),
  ],
  ['no mark any more, and the same size', {}, { isMarked: true }, replaced({ kind: 'no-mark' })],
  [
    'a mark of a version that is not known',
    { metadata: { botsync: { v: 9 } } },
    { isMarked: true },
    replaced({ kind: 'no-mark' }),
  ],
  ['another id, and its mark', { metadata: MARKED, id: 'file_2' }, {}, replaced({ kind: 'other-id' })],
  ['another key', { metadata: MARKED, key: 'file_1' }, {}, replaced({ kind: 'other-key' })],
  ['no mark, as it never had, and its size', {}, {}, OURS],
  [
    'no mark, and another size',
    { sizeBytes: 7 },
    { triedBytes: 7 },
    replaced({ kind: 'other-size', foundBytes: 7, sentBytes: 5 }),
  ],
  ['no mark, and nothing in it yet', { sizeBytes: null, status: 'upload_pending' }, {}, UNTOLD],
  ['no mark, and an unknown status with nothing in it', { sizeBytes: null, status: null }, {}, UNTOLD],
  ['no mark, and a failed upload', { sizeBytes: null, status: 'upload_failed' }, {}, OURS],
])('what was recorded is compared with %s', (_what, found, recorded, expected) => {
  expect(ownershipOf(there(found), put(recorded))).toEqual(expected);
});

test.each([
  ['a mark of the source', { metadata: { botsync: markOf(OTHER, 'docs') } }, {}, OURS],
  [
    'a mark of the source under another id',
    { metadata: { botsync: markOf(OTHER, 'docs') }, id: 'file_2' },
    {},
    OURS,
  ],
  [
    'a mark of another source',
    { metadata: { botsync: markOf(OTHER, 'b') } },
    {},
    replaced({ kind: 'mark-of-other-source' }),
  ],
  ['an upsert without content', { sizeBytes: null, status: 'upload_pending' }, { isMarked: true }, OURS],
  ['a tombstone', { sizeBytes: 0, expiresAtMs: 1 }, { isMarked: true }, OURS],
  ['the size of the attempt', { sizeBytes: 8 }, { triedBytes: 8 }, OURS],
  ['the size of what was there before the attempt', {}, { triedBytes: 8 }, OURS],
  [
    'another size',
    { sizeBytes: 7 },
    { triedBytes: 8 },
    replaced({ kind: 'other-size', foundBytes: 7, sentBytes: 8 }),
  ],
  ['another key', { key: 'b.md' }, {}, replaced({ kind: 'other-key' })],
])('after an attempt that was not recorded, it is compared with %s', (_what, found, recorded, expected) => {
  expect(ownershipOf(there(found), put({ ...recorded, sha256: null }))).toEqual(expected);
});
