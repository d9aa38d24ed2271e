import { expect, test } from 'vitest';
import type { CatalogFile, ListedFile } from '../../src/domain/file-catalog.ts';
import { PlatformListing } from '../../src/store/listing.ts';
import { closeAtEnd } from './fixture.ts';

const FILE: CatalogFile = {
  id: 'file_1',
  key: 'a.txt',
  sizeBytes: 1,
  status: 'indexing_completed',
  failedReason: null,
  contentType: 'text/plain',
  tags: { kind: 'manual' },
  metadata: { of: { b: 2, a: [1, null] } },
  accessPolicies: ['integrations'],
  index: true,
  expiresAtMs: 1_790_000_000_000,
  ownerType: 'bot',
  url: 'https://store.example/a?signature=secret',
};

function open(): PlatformListing {
  const listing = new PlatformListing();
  closeAtEnd(listing);
  return listing;
}

function all(listing: PlatformListing): ListedFile[] {
  const files: ListedFile[] = [];
  const cursor = listing.byKey();
  for (let file = cursor.current; file !== null; file = cursor.current) {
    files.push(file);
    cursor.advance();
  }
  return files;
}

test('a file stays as it was listed, but for its address', () => {
  const listing = open();
  listing.add([FILE]);
  const { url, ...listed } = FILE;
  expect(listing.find('a.txt')).toEqual(listed);
  expect(JSON.stringify(all(listing))).not.toContain(url);
  expect(listing.find('b.txt')).toBeNull();
});

test('files come in the order of the bytes of their keys, over many pages', () => {
  const listing = open();
  const keys = ['\u{1f600}', '\uffee', 'ä', 'z', 'B', 'a/b', 'a.b', 'a-b', 'a'];
  for (let at = 0; at < 1000; at++) keys.push(`many/${at}`);
  for (let at = 0; at < keys.length; at += 100)
    listing.add(keys.slice(at, at + 100).map((key) => ({ ...FILE, key })));
  const sorted = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  expect(all(listing).map(({ key }) => key)).toEqual(sorted);
});

test('of a key that is listed twice the later file counts', () => {
  const listing = open();
  listing.add([FILE, { ...FILE, id: 'file_2' }]);
  listing.add([{ ...FILE, id: 'file_3' }]);
  expect(all(listing).map(({ id }) => id)).toEqual(['file_3']);
});
