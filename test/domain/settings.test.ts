import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { FileKey } from '../../src/domain/key.ts';
import { prepareUpsert } from '../../src/domain/limits.ts';
import { renewalTime, checkExpiry } from '../../src/domain/expiry.ts';
import {
  resolveSettings,
  settingsDigest,
  type Expiry,
  type FileSettings,
  type RuleSettings,
} from '../../src/domain/settings.ts';
import { DAY, HOUR, MINUTE, NOW, PLAIN, SECOND } from './fixture.ts';

describe('rules that match a file', () => {
  const rows: readonly (readonly [
    what: string,
    rules: readonly RuleSettings[],
    expected: Partial<FileSettings>,
  ])[] = [
    ['none', [], PLAIN],
    ['one that says nothing', [{}], PLAIN],
    [
      'one that says everything',
      [
        {
          index: true,
          indexing: { configuration: { chunking: 1 } },
          tags: { a: '1' },
          metadata: { m: [1] },
          contentType: 'x/y',
          accessPolicies: ['integrations'],
          publicContentImmediatelyAccessible: true,
          expires: { kind: 'at', atMs: NOW },
          whenTooLargeToIndex: 'skip',
        },
      ],
      {
        index: true,
        indexing: { configuration: { chunking: 1 } },
        tags: { a: '1' },
        metadata: { m: [1] },
        contentType: 'x/y',
        accessPolicies: ['integrations'],
        publicContentImmediatelyAccessible: true,
        expiry: { kind: 'at', atMs: NOW },
        whenTooLargeToIndex: 'skip',
      },
    ],
    ['scalars: the later wins', [{ index: true }, { index: false }], { index: false }],
    ['scalars: null unsets', [{ index: true }, { index: null }], { index: false }],
    ['content type: null unsets', [{ contentType: 'x/y' }, { contentType: null }], PLAIN],
    [
      'content type: the later wins',
      [{ contentType: 'x/y' }, { contentType: 'z/w' }],
      { contentType: 'z/w' },
    ],
    ['policy: null unsets', [{ whenTooLargeToIndex: 'skip' }, { whenTooLargeToIndex: null }], PLAIN],
    [
      'public at once: null unsets',
      [{ publicContentImmediatelyAccessible: true }, { publicContentImmediatelyAccessible: null }],
      PLAIN,
    ],
    [
      'silence leaves what was said',
      [{ index: true, contentType: 'x/y' }, {}],
      { index: true, contentType: 'x/y' },
    ],
    [
      'tags merge',
      [{ tags: { a: '1', b: '1' } }, { tags: { b: '2', c: '2' } }],
      { tags: { a: '1', b: '2', c: '2' } },
    ],
    ['one tag unset', [{ tags: { a: '1', b: '1' } }, { tags: { a: null } }], { tags: { b: '1' } }],
    [
      'a tag unset and set again',
      [{ tags: { a: '1' } }, { tags: { a: null } }, { tags: { a: '3' } }],
      { tags: { a: '3' } },
    ],
    [
      'all tags unset, later ones stay',
      [{ tags: { a: '1' } }, { tags: null }, { tags: { b: '1' } }],
      { tags: { b: '1' } },
    ],
    [
      'metadata merges by name',
      [{ metadata: { a: 1, b: 1 } }, { metadata: { b: 2 } }],
      { metadata: { a: 1, b: 2 } },
    ],
    [
      'metadata: values replace',
      [{ metadata: { a: { x: 1 } } }, { metadata: { a: { y: 1 } } }],
      { metadata: { a: { y: 1 } } },
    ],
    [
      'metadata: null unsets one',
      [{ metadata: { a: 1, b: 1 } }, { metadata: { a: null } }],
      { metadata: { b: 1 } },
    ],
    ['metadata: null unsets all', [{ metadata: { a: 1 } }, { metadata: null }], { metadata: {} }],
    ['metadata: a null within stays', [{ metadata: { a: { x: null } } }], { metadata: { a: { x: null } } }],
    [
      'arrays replace',
      [{ accessPolicies: ['integrations'] }, { accessPolicies: ['public_content'] }],
      { accessPolicies: ['public_content'] },
    ],
    [
      'arrays: null unsets',
      [{ accessPolicies: ['integrations'] }, { accessPolicies: null }],
      { accessPolicies: [] },
    ],
    [
      'indexing replaces',
      [{ indexing: { configuration: { a: 1 } } }, { indexing: { configuration: { b: 1 } } }],
      { indexing: { configuration: { b: 1 } } },
    ],
    ['indexing: null unsets', [{ indexing: { configuration: {} } }, { indexing: null }], { indexing: null }],
  ];
  test.each(rows)('%s', (_what, rules, expected) => {
    expect(resolveSettings(rules, 'text/plain')).toEqual({ ...PLAIN, ...expected });
  });

  test('names that mean something to JavaScript are tags like others', () => {
    const tags = JSON.parse('{"__proto__":"p","constructor":"c"}') as Record<string, string>;
    expect(JSON.stringify(resolveSettings([{ tags }], 'a/b').tags)).toBe(
      '{"__proto__":"p","constructor":"c"}',
    );
  });
});

describe('expiry', () => {
  const at = { kind: 'at', atMs: NOW } as const;
  const days = (count: number): { kind: 'in'; lifetimeMs: number } => ({
    kind: 'in',
    lifetimeMs: count * DAY,
  });
  const renewing = (lifetimeMs: number, beforeMs: number): Expiry => ({
    kind: 'in',
    lifetimeMs,
    renewal: { beforeMs },
  });
  const rows: readonly (readonly [what: string, rules: readonly RuleSettings[], expiry: Expiry | null])[] = [
    ['expiresIn, later expiresAt', [{ expires: days(1) }, { expires: at }], at],
    ['expiresAt, later expiresIn', [{ expires: at }, { expires: days(4) }], renewing(4 * DAY, DAY)],
    ['unset', [{ expires: at }, { expires: null }], null],
    ['only renewal', [{ renew: true, renewBeforeMs: HOUR }], null],
    ['lead: a quarter', [{ expires: days(8) }], renewing(8 * DAY, 2 * DAY)],
    ['lead: a quarter of less', [{ expires: days(1) }], renewing(DAY, 6 * HOUR)],
    ['lead: two days at most', [{ expires: days(9) }], renewing(9 * DAY, 2 * DAY)],
    ['lead: as given', [{ expires: days(30), renewBeforeMs: 5 * DAY }], renewing(30 * DAY, 5 * DAY)],
    ['lead: half', [{ expires: days(30), renewBeforeMs: 15 * DAY }], renewing(30 * DAY, 15 * DAY)],
    [
      'lead: more than half is half',
      [{ expires: days(30), renewBeforeMs: 16 * DAY }],
      renewing(30 * DAY, 15 * DAY),
    ],
    ['lead: from another rule', [{ renewBeforeMs: HOUR }, { expires: days(30) }], renewing(30 * DAY, HOUR)],
    [
      'lead: unset',
      [{ expires: days(8), renewBeforeMs: HOUR }, { renewBeforeMs: null }],
      renewing(8 * DAY, 2 * DAY),
    ],
    [
      'lead: leaves the minute that truncation takes',
      [{ expires: { kind: 'in', lifetimeMs: 70 * SECOND } }],
      renewing(70 * SECOND, 10 * SECOND),
    ],
    ['lead: nothing to leave', [{ expires: { kind: 'in', lifetimeMs: MINUTE } }], renewing(MINUTE, 0)],
    ['let expire', [{ expires: days(1), renew: false }], { kind: 'in', lifetimeMs: DAY, renewal: null }],
    [
      'let expire, taken back',
      [{ expires: days(1), renew: false }, { renew: null }],
      renewing(DAY, 6 * HOUR),
    ],
    ['let expire, overruled', [{ renew: false }, { expires: days(1), renew: true }], renewing(DAY, 6 * HOUR)],
    ['renew beside expiresAt has no effect', [{ expires: at, renew: true, renewBeforeMs: HOUR }], at],
  ];
  test.each(rows)('%s', (_what, rules, expiry) => {
    expect(resolveSettings(rules, 'text/plain').expiry).toEqual(expiry);
  });

  test('no file is due again at the moment it is sent', () => {
    const lifetime = fc.oneof(
      fc.integer({ min: MINUTE, max: 5 * MINUTE }),
      fc.integer({ min: MINUTE, max: 90 * DAY }),
    );
    const lead = fc.option(fc.integer({ min: 1, max: 90 * DAY }));
    const now = fc.integer({ min: NOW, max: NOW + DAY });
    fc.assert(
      fc.property(lifetime, lead, now, (lifetimeMs, renewBeforeMs, nowMs) => {
        const { expiry } = resolveSettings([{ expires: { kind: 'in', lifetimeMs }, renewBeforeMs }], 'a/b');
        const check = checkExpiry(expiry as Expiry, nowMs);
        expect(check.kind === 'ok' && (renewalTime(expiry, check.expiresAtMs) ?? 0) > nowMs).toBe(true);
      }),
    );
  });
});

describe('the digest', () => {
  const full: FileSettings = {
    ...PLAIN,
    index: true,
    indexing: { configuration: { a: 1, b: { c: 1, d: 2 } } },
    tags: { a: '1', b: '2' },
    metadata: { m: { x: 1, y: [1, 2] }, n: null },
    accessPolicies: ['integrations', 'public_content'],
    expiry: { kind: 'in', lifetimeMs: DAY, renewal: { beforeMs: HOUR } },
  };
  const changes: readonly (readonly [what: string, change: Partial<FileSettings>])[] = [
    ['index', { index: false }],
    ['indexing', { indexing: { configuration: { a: 2, b: { c: 1, d: 2 } } } }],
    ['no indexing', { indexing: null }],
    ['a tag', { tags: { a: '1', b: '3' } }],
    ['a tag less', { tags: { a: '1' } }],
    ['metadata', { metadata: { m: { x: 1, y: [2, 1] }, n: null } }],
    ['metadata null and absent', { metadata: { m: { x: 1, y: [1, 2] } } }],
    ['content type', { contentType: 'text/html' }],
    ['policies', { accessPolicies: ['integrations'] }],
    ['public at once', { publicContentImmediatelyAccessible: true }],
    ['lifetime', { expiry: { kind: 'in', lifetimeMs: DAY + 1, renewal: { beforeMs: HOUR } } }],
    ['a moment of the same number', { expiry: { kind: 'at', atMs: DAY } }],
    ['no expiry', { expiry: null }],
  ];
  test.each(changes)('changes with %s', (_what, change) => {
    expect(settingsDigest({ ...full, ...change })).not.toBe(settingsDigest(full));
  });

  const sames: readonly (readonly [what: string, a: Partial<FileSettings>, b: Partial<FileSettings>])[] = [
    ['the order of tags', {}, { tags: { b: '2', a: '1' } }],
    ['the order within metadata', {}, { metadata: { n: null, m: { y: [1, 2], x: 1 } } }],
    ['the order within indexing', {}, { indexing: { configuration: { b: { d: 2, c: 1 }, a: 1 } } }],
    ['the renewal lead', {}, { expiry: { kind: 'in', lifetimeMs: DAY, renewal: { beforeMs: 1 } } }],
    ['letting expire', {}, { expiry: { kind: 'in', lifetimeMs: DAY, renewal: null } }],
    ['the policy for too large files', {}, { whenTooLargeToIndex: 'skip' }],
    ['an empty indexing, which is not sent', { indexing: null }, { indexing: {} }],
    [
      'seconds of a moment, which are not sent',
      { expiry: { kind: 'at', atMs: Date.parse('2026-03-01T12:00:00Z') } },
      { expiry: { kind: 'at', atMs: Date.parse('2026-03-01T12:00:59.999Z') } },
    ],
  ];
  test.each(sames)('does not change with %s', (_what, a, b) => {
    expect(settingsDigest({ ...full, ...b })).toBe(settingsDigest({ ...full, ...a }));
  });

  test('differs exactly where the upsert does', () => {
    const name = fc.constantFrom('a', 'b', '1', '__proto__');
    const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonObject[string]>;
    const minute = fc.integer({ min: NOW + HOUR, max: NOW + HOUR + 3 * MINUTE });
    const settings: fc.Arbitrary<FileSettings> = fc.record({
      index: fc.boolean(),
      indexing: fc.option(
        fc.constantFrom<JsonObject>({}, { configuration: {} }, { configuration: { a: 1 } }),
      ),
      tags: fc.dictionary(name, fc.constantFrom('', 'x', 'y'), { maxKeys: 3 }),
      metadata: fc.dictionary(name, fc.oneof(fc.constantFrom(1, '1', null), json), { maxKeys: 2 }),
      contentType: fc.constantFrom('a/b', 'a/c'),
      accessPolicies: fc.subarray(['public_content', 'integrations'] as const),
      publicContentImmediatelyAccessible: fc.constant(false),
      expiry: fc.option(minute.map((atMs) => ({ kind: 'at', atMs }) as const)),
      whenTooLargeToIndex: fc.constantFrom('fail', 'skip', 'upload-without-index'),
    });
    const body = (one: FileSettings): unknown => {
      const prepared = prepareUpsert('k' as FileKey, 1, one, NOW);
      return prepared.kind === 'ready' ? (JSON.parse(JSON.stringify(prepared.body)) as unknown) : prepared;
    };
    const isSame = (a: FileSettings, b: FileSettings): boolean => {
      try {
        expect(body(a)).toStrictEqual(body(b));
        return true;
      } catch {
        return false;
      }
    };
    const pair = fc.oneof(
      fc.tuple(settings, settings),
      fc
        .tuple(settings, settings)
        .chain(([a, b]) =>
          fc
            .constantFrom(...(Object.keys(a) as (keyof FileSettings)[]))
            .map((field) => [a, { ...a, [field]: b[field] }] as const),
        ),
    );
    fc.assert(
      fc.property(pair, ([a, b]) => {
        expect(settingsDigest(a) === settingsDigest(b)).toBe(isSame(a, b));
      }),
      { numRuns: 500 },
    );
  });
});
