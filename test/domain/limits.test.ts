import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FileKey } from '../../src/domain/key.ts';
import { admit, prepareUpsert, type Limits, type PreparedUpsert } from '../../src/domain/limits.ts';
import { settingsDigest, type FileSettings } from '../../src/domain/settings.ts';
import { DAY, HOUR, MINUTE, NOW, PLAIN, SECOND } from './fixture.ts';
import { describeObstacle } from '../../src/words/obstacle.ts';
import type { Obstacle } from '../../src/domain/obstacle.ts';

const KEY = 'docs/a.md' as FileKey;

describe('admission', () => {
  const limits: Limits = { indexBytes: 1_000, fileBytes: 5_000, indexableExtensions: [] };
  const indexed: FileSettings = { ...PLAIN, index: true, indexing: { configuration: {} } };
  const resolved = (settings: FileSettings): { settings: FileSettings; digest: string } => ({
    settings,
    digest: settingsDigest(settings),
  });
  const when = (whenTooLargeToIndex: FileSettings['whenTooLargeToIndex']): FileSettings => ({
    ...indexed,
    whenTooLargeToIndex,
  });
  const tooLarge = /too large to index: 1,001 bytes are more than limits\.indexBytes \(1,000\)/u;

  const rows: readonly (readonly [
    what: string,
    settings: FileSettings,
    bytes: number,
    kind: string,
    reason: RegExp | null,
  ])[] = [
    ['empty', PLAIN, 0, 'send', null],
    ['the largest to index', indexed, 1_000, 'send', null],
    ['larger, not indexed', PLAIN, 1_001, 'send', null],
    ['larger, fail', when('fail'), 1_001, 'refuse', tooLarge],
    ['larger, skip', when('skip'), 1_001, 'skip', tooLarge],
    ['skip, not indexed', { ...when('skip'), index: false }, 1_001, 'send', null],
    ['skip, small enough', when('skip'), 1_000, 'send', null],
    ['the largest of all', PLAIN, 5_000, 'send', null],
    ['larger than that', PLAIN, 5_001, 'refuse', /5,001 bytes are more than limits\.fileBytes \(5,000\)/u],
    ['larger than that, skip', when('skip'), 5_001, 'refuse', /limits\.fileBytes/u],
    ['larger than that, without index', when('upload-without-index'), 5_001, 'refuse', /limits\.fileBytes/u],
  ];
  test.each(rows)('%s', (_what, settings, bytes, kind, reason) => {
    const admission = admit(resolved(settings), bytes, limits);
    expect(admission.kind).toBe(kind);
    if (admission.kind === 'send') expect(admission.resolved).toEqual(resolved(settings));
    else expect(describeObstacle(admission.reason)).toMatch(reason ?? /never/u);
  });

  test('upload-without-index sends it unindexed, under a digest of its own', () => {
    const settings = when('upload-without-index');
    const without = { ...settings, index: false, indexing: null };
    expect(admit(resolved(settings), 1_001, limits)).toEqual({ kind: 'send', resolved: resolved(without) });
    expect(settingsDigest(without)).not.toBe(settingsDigest(settings));
    expect(admit(resolved(settings), 1_000, limits)).toEqual({ kind: 'send', resolved: resolved(settings) });
  });

  test('a refusal says what a rule may do about it', () => {
    const admission = admit(resolved(when('fail')), 1_001, limits);
    const reason = { kind: 'too-large-to-index', sizeBytes: 1_001, limitBytes: 1_000, isSkipped: false };
    expect(admission).toEqual({ kind: 'refuse', reason });
    expect(describeObstacle(reason as Obstacle)).toContain('"upload-without-index" or "skip"');
  });
});

describe('the body of an upsert', () => {
  test('always says tags, metadata, policies, index and type, and nothing that is not set', () => {
    const prepared = prepareUpsert(KEY, 0, PLAIN, NOW);
    expect(prepared).toStrictEqual({
      kind: 'ready',
      expiresAtMs: null,
      body: {
        key: KEY,
        size: 0,
        index: false,
        tags: {},
        metadata: {},
        accessPolicies: [],
        contentType: 'text/plain',
      },
    });
  });

  test('says all that is set', () => {
    const settings: FileSettings = {
      index: true,
      indexing: { configuration: { chunking: {} } },
      tags: { a: '1' },
      metadata: { m: [1, null] },
      contentType: 'x/y',
      accessPolicies: ['public_content', 'integrations'],
      publicContentImmediatelyAccessible: true,
      expiry: { kind: 'in', lifetimeMs: HOUR, renewal: null },
      whenTooLargeToIndex: 'skip',
    };
    expect(prepareUpsert(KEY, 12, settings, NOW)).toStrictEqual({
      kind: 'ready',
      expiresAtMs: Date.parse('2026-03-01T13:00:00Z'),
      body: {
        key: KEY,
        size: 12,
        index: true,
        indexing: { configuration: { chunking: {} } },
        tags: { a: '1' },
        metadata: { m: [1, null] },
        contentType: 'x/y',
        accessPolicies: ['public_content', 'integrations'],
        publicContentImmediatelyAccessible: true,
        expiresAt: '2026-03-01T13:00:00.000Z',
      },
    });
  });

  test('does not say an empty indexing', () => {
    const prepared = prepareUpsert(KEY, 1, { ...PLAIN, index: true, indexing: {} }, NOW);
    expect(prepared.kind === 'ready' && Object.keys(prepared.body)).not.toContain('indexing');
  });

  /** Settings whose body has this many bytes. */
  const ofBytes = (bytes: number, filler = 'x'): FileSettings => {
    const body = (metadata: { m: string }): number => {
      const prepared = prepareUpsert(KEY, 1, { ...PLAIN, metadata }, NOW);
      return Buffer.byteLength(JSON.stringify(prepared.kind === 'ready' ? prepared.body : null));
    };
    const rest = bytes - body({ m: '' });
    const wide = Buffer.byteLength(filler);
    return { ...PLAIN, metadata: { m: filler.repeat(Math.floor(rest / wide)) + 'x'.repeat(rest % wide) } };
  };
  const tag = (value: string): FileSettings => ({ ...PLAIN, tags: { ok: 'x', long: value } });
  const rows: readonly (readonly [what: string, settings: FileSettings, refused: RegExp | null])[] = [
    ['the longest tag', tag('x'.repeat(1_000)), null],
    ['a tag too long', tag('x'.repeat(1_001)), /tag "long" has more than 1,000 characters/u],
    ['a body nearly too large', ofBytes(997_000), null],
    ['a body nearly too large, in bytes', ofBytes(997_000, '€'), null],
    ['a body too large', ofBytes(1_000_001), /larger than 1,000,000 bytes/u],
    ['a body too large in bytes, not in characters', ofBytes(1_000_001, '€'), /larger than 1,000,000 bytes/u],
    [
      'public at once without the policy',
      { ...PLAIN, publicContentImmediatelyAccessible: true, accessPolicies: ['integrations'] },
      /needs "public_content" in accessPolicies/u,
    ],
    [
      'public at once with it',
      { ...PLAIN, publicContentImmediatelyAccessible: true, accessPolicies: ['public_content'] },
      null,
    ],
    ['a moment that is past', { ...PLAIN, expiry: { kind: 'at', atMs: NOW - MINUTE } }, /not in the future/u],
    ['a moment too far', { ...PLAIN, expiry: { kind: 'at', atMs: NOW + 91 * DAY } }, /90 days/u],
    [
      '30s',
      { ...PLAIN, expiry: { kind: 'in', lifetimeMs: 30 * SECOND, renewal: null } },
      /shorter than a minute/u,
    ],
  ];
  test.each(rows)('%s', (_what, settings, refused) => {
    const prepared = prepareUpsert(KEY, 1, settings, NOW);
    if (refused === null) expect(prepared.kind).toBe('ready');
    else expect(prepared.kind === 'refuse' && describeObstacle(prepared.reason)).toMatch(refused);
  });

  test('is refused a byte above what its settings, the largest that its key can become, and a mark may make, not at it', () => {
    const filled = (length: number): FileSettings => ({ ...PLAIN, metadata: { m: 'x'.repeat(length) } });
    const room = 1_000_000 - 2000 - 6 * KEY.length - Buffer.byteLength(JSON.stringify(filled(0)));
    expect(prepareUpsert(KEY, 1, filled(room), NOW).kind).toBe('ready');
    expect(prepareUpsert(KEY, 1, filled(room + 1), NOW).kind).toBe('refuse');
  });

  test('is never larger than the platform takes, whatever it is made of', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '"', '\u0001', '\u20ac', '\u{1f600}'),
      maxLength: 300,
    });
    const settings: fc.Arbitrary<FileSettings> = fc.record({
      index: fc.boolean(),
      indexing: fc.constantFrom(null, {}, { configuration: { parsing: 'x' } }),
      tags: fc.dictionary(text, text, { maxKeys: 2 }),
      metadata: fc.constant({}),
      contentType: fc.constantFrom('a/b', 'text/plain'),
      accessPolicies: fc.constantFrom([], ['public_content'], ['public_content', 'integrations']),
      publicContentImmediatelyAccessible: fc.constant(false),
      expiry: fc.constantFrom(
        null,
        { kind: 'at', atMs: NOW + HOUR },
        { kind: 'in', lifetimeMs: HOUR, renewal: null },
      ),
      whenTooLargeToIndex: fc.constantFrom('fail', 'skip'),
    });
    const size = fc.integer({ min: 0, max: 1_000_000_000 });
    const bytesOf = (prepared: PreparedUpsert): number =>
      Buffer.byteLength(JSON.stringify(prepared.kind === 'ready' ? prepared.body : null));
    fc.assert(
      fc.property(
        text.map((one) => one.replaceAll('\\', '/')),
        size,
        settings,
        fc.integer({ min: -300, max: 300 }),
        (key, bytes, some, off) => {
          const open = some.accessPolicies.includes('public_content');
          const base = { ...some, publicContentImmediatelyAccessible: open, metadata: { m: '' } };
          const rest = 1_000_000 - bytesOf(prepareUpsert(key as FileKey, bytes, base, NOW)) + off;
          const full = { ...base, metadata: { m: 'x'.repeat(rest) } };
          const prepared = prepareUpsert(key as FileKey, bytes, full, NOW);
          expect(bytesOf(prepared)).toBeLessThanOrEqual(1_000_000);
          if (off > 0) expect(prepared.kind).toBe('refuse');
        },
      ),
    );
  });
});
