import { fingerprintOf, type FileFacts, type Fingerprint } from '../../src/domain/fingerprint.ts';
import type { FileKey, RelativePath } from '../../src/domain/key.ts';
import type { FileRecord } from '../../src/domain/record.ts';
import type { FileSettings } from '../../src/domain/settings.ts';

export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;

/** The moment every test begins: ten and a half seconds into a minute. */
export const NOW = Date.parse('2026-03-01T12:00:10.500Z');

/** What a file has that no rule matches. */
export const PLAIN: FileSettings = {
  index: false,
  indexing: null,
  tags: {},
  metadata: {},
  contentType: 'text/plain',
  accessPolicies: [],
  publicContentImmediatelyAccessible: false,
  expiry: null,
  whenTooLargeToIndex: 'fail',
};

/** The facts of some file, but for what a test is about. */
export function facts(some: Partial<FileFacts> = {}): FileFacts {
  return { size: 5n, mtimeNs: 1_000n, ctimeNs: 2_000n, ino: 7n, ...some };
}

/** Their fingerprint. */
export function fingerprint(some: Partial<FileFacts> = {}): Fingerprint {
  return fingerprintOf(facts(some));
}

/** The record of a small file that was sent long ago, and of which nothing more is known. */
export const RECORD: FileRecord = {
  target: 1,
  source: 'docs',
  path: 'a' as RelativePath,
  key: 'a' as FileKey,
  state: 'synced',
  fingerprint: fingerprint(),
  trusted: true,
  settingsDigest: 'settings',
  expiresAtMs: null,
  renewAtMs: null,
  absence: null,
  absentSinceMs: null,
  sizeBytes: 5,
  sha256: Buffer.alloc(32, 7),
  uploaded: true,
  failure: null,
  changedAtMs: NOW - DAY,
  remoteId: null,
  verdict: null,
  sentAtMs: NOW - DAY,
  askAtMs: null,
  askedAtMs: null,
  losses: 0,
  isMarkDue: false,
  isMarked: false,
  changing: null,
  differs: null,
};
