import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { markOf } from '../../src/domain/mark.ts';
import {
  delayOf,
  mayHaveContent,
  readStatus,
  type PlatformStatus,
  type SentContent,
  type StatusFields,
} from '../../src/domain/platform-status.ts';
import { DAY, MINUTE } from './fixture.ts';

const SHA256 = Buffer.alloc(32, 7);
const OURS = { botsync: markOf(SHA256, 'docs') };
const OTHERS = { botsync: markOf(Buffer.alloc(32, 8), 'docs') };
const MARKED: SentContent = { sizeBytes: 3, sha256: SHA256, isMarked: true };
const UNMARKED: SentContent = { ...MARKED, isMarked: false };

function answer(fields: Partial<StatusFields>): StatusFields {
  return { status: null, failedReason: null, index: null, sizeBytes: 3, metadata: OURS, ...fields };
}

function meaning(status: PlatformStatus): string {
  return status.kind === 'final' ? status.verdict : status.kind;
}

/** For each status: not to be indexed, to be indexed. */
const TABLE: readonly (readonly [string | null, string, string])[] = [
  ['upload_pending', 'unregistered', 'unregistered'],
  ['upload_failed', 'lost', 'lost'],
  ['upload_completed', 'stored', 'pending'],
  ['indexing_pending', 'stored', 'pending'],
  ['indexing_completed', 'stored', 'searchable'],
  ['indexing_failed', 'stored', 'unsearchable'],
  ['indexing_in_progress', 'pending', 'pending'],
  ['constructor', 'pending', 'pending'],
  [null, 'pending', 'pending'],
];

const INDEXES = [true, false, null] as const;

/** What is read where nothing but the status and the index counts. */
function tabled(status: string | null, wanted: boolean | null, answered: boolean | null): string {
  const isIndexed = wanted ?? answered ?? String(status).startsWith('indexing_');
  return TABLE.find(([name]) => name === status)?.[isIndexed ? 2 : 1] ?? '';
}

describe('every combination of status, index wanted, index answered, size and mark', () => {
  for (const [status] of TABLE)
    for (const wanted of INDEXES)
      for (const answered of INDEXES)
        test(`${status ?? 'no status'}, wanted ${String(wanted)}, answered ${String(answered)}`, () => {
          const expected = tabled(status, wanted, answered);
          const read = (fields: Partial<StatusFields>, sent: SentContent): string =>
            meaning(readStatus(answer({ status, index: answered, ...fields }), sent, wanted));
          expect(read({}, MARKED)).toBe(expected);
          expect(read({}, UNMARKED)).toBe(expected);
          expect(read({ metadata: {} }, UNMARKED)).toBe(expected);
          const sizes = [3, 4, null];
          // Somebody else's entry, or that of the content before: whatever its status, and whatever its size.
          for (const sizeBytes of sizes) {
            expect(read({ metadata: {}, sizeBytes }, MARKED)).toBe('other');
            for (const sent of [MARKED, UNMARKED])
              expect(read({ metadata: OTHERS, sizeBytes }, sent)).toBe('other');
          }
          const isSizeless = ['lost', 'unregistered'].includes(expected);
          for (const [metadata, sent] of [
            [OURS, MARKED],
            [{}, UNMARKED],
          ] as readonly [JsonObject, SentContent][]) {
            expect(read({ metadata, sizeBytes: 4 }, sent)).toBe(isSizeless ? expected : 'other');
            expect(read({ metadata, sizeBytes: null }, sent)).toBe(isSizeless ? expected : 'pending');
          }
        });
});

test('of a content whose digest is not known no mark is the right one', () => {
  const file = answer({ status: 'upload_completed' });
  expect(meaning(readStatus(file, { ...UNMARKED, sha256: null }, false))).toBe('other');
  expect(meaning(readStatus({ ...file, metadata: {} }, { ...UNMARKED, sha256: null }, false))).toBe('stored');
});

test.each([
  ['The File Storage quota has been exceeded', 'quota'],
  ['A file is at most 1000000000 bytes', 'size'],
  ['Files larger than 95000000 bytes cannot be indexed', 'size'],
  ['The file is too large', 'size'],
  ['It exceeds the size limit', 'size'],
  ['The maximum file size is 1 GB', 'size'],
  ['Checksum mismatch', 'other'],
  [null, 'other'],
])('an upload_failed for "%s" is a matter of %s', (failedReason, cause) => {
  const status = readStatus(answer({ status: 'upload_failed', sizeBytes: null, failedReason }), MARKED, true);
  expect(status).toMatchObject({ kind: 'lost', cause });
});

test.each(['stored', 'searchable', 'unsearchable', 'lost'])('what is %s is never late', (expected) => {
  for (const [status] of TABLE)
    for (const isIndexed of [true, false]) {
      const read = readStatus(answer({ status }), MARKED, isIndexed);
      if (meaning(read) === expected) expect(delayOf(read, 100 * DAY)).toBeNull();
    }
});

test('content that is not registered after ten minutes is lost, and what has no end after a day is late', () => {
  const unregistered = readStatus(answer({ status: 'upload_pending', sizeBytes: null }), MARKED, true);
  expect(delayOf(unregistered, 10 * MINUTE - 1)).toBeNull();
  expect(delayOf(unregistered, 10 * MINUTE)).toBe('lost');
  for (const fields of [{ status: 'indexing_pending' }, { metadata: OTHERS }, { status: null }]) {
    const read = readStatus(answer(fields), MARKED, true);
    expect(delayOf(read, DAY - 1)).toBeNull();
    expect(delayOf(read, DAY)).toBe('late');
  }
});

test('content may be there under every status but those that say that it is not', () => {
  const without = TABLE.map(([status]) => status).filter((status) => !mayHaveContent(status));
  expect(without).toEqual(['upload_pending', 'upload_failed', null]);
});
