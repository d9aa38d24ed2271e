import { expect, test } from 'vitest';
import { otherFacts, type Fact } from '../../src/domain/change-in-place.ts';
import type { CatalogFile } from '../../src/domain/file-catalog.ts';
import type { SentSettings } from '../../src/domain/settings.ts';

const TOLD: SentSettings = {
  index: true,
  indexing: null,
  tags: { kind: 'manual' },
  metadata: { of: { a: 1, b: 2 } },
  contentType: 'text/plain; charset=utf-8',
  accessPolicies: ['public_content', 'integrations'],
  publicContentImmediatelyAccessible: false,
  expiry: null,
};

const FILE: CatalogFile = {
  id: 'file_1',
  key: 'a.txt',
  sizeBytes: 1,
  status: 'indexing_completed',
  failedReason: null,
  contentType: 'text/plain; charset=utf-8',
  tags: { kind: 'manual' },
  metadata: { of: { b: 2, a: 1 } },
  accessPolicies: ['integrations', 'public_content'],
  index: true,
  expiresAtMs: null,
  ownerType: 'bot',
  url: null,
};

test.each<readonly [string, Partial<CatalogFile>, readonly Fact[]]>([
  ['nothing', {}, []],
  ['tags that others gave', { tags: { kind: 'manual', theirs: 'x' } }, []],
  ['metadata that others gave', { metadata: { of: { a: 1, b: 2 }, botsync: { v: 1 } } }, []],
  ['another spelling of the type', { contentType: 'Text/Plain;charset=UTF-8' }, []],
  ['what is not said', { contentType: null, index: null }, []],
  ['a tag that is gone', { tags: {} }, ['tags']],
  ['another tag', { tags: { kind: 'letter' } }, ['tags']],
  ['other metadata', { metadata: { of: { a: 1 } } }, ['metadata']],
  ['a policy less', { accessPolicies: ['integrations'] }, ['accessPolicies']],
  ['another type', { contentType: 'text/html' }, ['contentType']],
  ['no index', { index: false }, ['index']],
])('%s', (_what, other, expected) => {
  expect(otherFacts({ ...FILE, ...other }, TOLD)).toEqual(expected);
});
