import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { MARK_NAME, markOf, readMark } from '../../src/domain/mark.ts';

const SHA = createHash('sha256').update('alpha').digest();
const HEX = SHA.toString('hex');
const MARK = { v: 1, sha256: HEX, source: 'docs' };

test('a mark says the content and the source, and is read as it was written', () => {
  expect(MARK_NAME).toBe('botsync');
  expect(markOf(SHA, 'docs')).toEqual(MARK);
  expect(readMark({ botsync: markOf(SHA, 'docs') })).toEqual({ sha256: HEX, source: 'docs' });
});

test('what a later botsync adds to a mark of this version is passed over', () => {
  expect(readMark({ botsync: { ...MARK, later: true } })).toEqual({ sha256: HEX, source: 'docs' });
});

test.each<[string, JsonObject]>([
  ['none', {}],
  ['nothing', { botsync: null }],
  ['a text', { botsync: HEX }],
  ['a list', { botsync: [MARK] }],
  ['another version', { botsync: { ...MARK, v: 2 } }],
  ['a version that is a text', { botsync: { ...MARK, v: '1' } }],
  ['no version', { botsync: { sha256: HEX, source: 'docs' } }],
  ['no content', { botsync: { v: 1, source: 'docs' } }],
  ['no source', { botsync: { v: 1, sha256: HEX } }],
  ['a source that is none', { botsync: { ...MARK, source: 5 } }],
  ['a sum that is too short', { botsync: { ...MARK, sha256: HEX.slice(1) } }],
  ['a sum that is too long', { botsync: { ...MARK, sha256: `${HEX}0` } }],
  ['a sum on two lines', { botsync: { ...MARK, sha256: `${HEX}\n` } }],
  ['a sum in capitals', { botsync: { ...MARK, sha256: HEX.toUpperCase() } }],
  ['a sum of another kind', { botsync: { ...MARK, sha256: 'z'.repeat(64) } }],
])('%s is no mark', (_, metadata) => {
  expect(readMark(metadata)).toBeNull();
});
