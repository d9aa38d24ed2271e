import fc from 'fast-check';
import mime from 'mime-types';
import { describe, expect, test } from 'vitest';
import { type RelativePath, fileKey, compareUtf8, isWithin } from '../../src/domain/key.ts';
import { suggestContentType } from '../../src/domain/rules.ts';
import { canonicalJson, type JsonValue } from '../../src/domain/json.ts';

describe('a key', () => {
  const rows: readonly (readonly [prefix: string, path: string, key: string])[] = [
    ['', 'a/b.md', 'a/b.md'],
    ['docs/', 'a/b.md', 'docs/a/b.md'],
    ['docs', 'a', 'docsa'],
    ['', 'cafe\u0301', 'caf\u00e9'],
    ['cafe\u0301/', 'x', 'caf\u00e9/x'],
    // Prefix and path may only together be a character
    ['cafe', '\u0301x', 'caf\u00e9x'],
    // Canonical, not compatibility composition
    ['', '\ufb01', '\ufb01'],
  ];
  test.each(rows)('%j + %j = %j', (prefix, path, key) => {
    expect(fileKey(prefix, path as RelativePath)).toBe(key);
  });
});

describe('the order of paths', () => {
  const sign = (a: string, b: string): number => Math.sign(compareUtf8(a, b));
  const sorted: readonly (readonly string[])[] = [
    ['b-a', 'b.a', 'b/c', 'b0'],
    ['', 'a', 'aa', 'ab', 'b'],
    ['Z', 'a', '\u00e9', '\ud7ff', '\ue000', '\ufffd', '\uffff', '\u{10000}', '\u{10ffff}'],
    ['x\uffff', 'x\u{1f600}', 'x\u{1f600}a'],
    ['\u{1f600}', '\u{1f601}', '\u{1f700}'],
  ];
  test.each(sorted)('%j before %j', (...names) => {
    for (const [i, a] of names.entries()) {
      for (const [j, b] of names.entries()) expect([a, b, sign(a, b)]).toEqual([a, b, Math.sign(i - j)]);
    }
  });

  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.string({
      unit: fc.constantFrom('a', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'),
      maxLength: 4,
    }),
  );
  test('is that of the UTF-8 bytes', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(sign(a, b)).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
      { numRuns: 2000 },
    );
  });

  test('is total', () => {
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        expect(sign(a, b)).toBe(0 - sign(b, a));
        expect(sign(a, b) === 0).toBe(a === b);
        if (sign(a, b) <= 0 && sign(b, c) <= 0) expect(sign(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });
});

describe('a suggested content type', () => {
  const rows: readonly (readonly [path: string, type: string])[] = [
    ['a.html', 'text/html'],
    ['a/b.c/d.PDF', 'application/pdf'],
    ['a.tar.gz', 'application/gzip'],
    ['a.md', 'text/markdown'],
    ['README', 'application/octet-stream'],
    ['a.unknown-thing', 'application/octet-stream'],
    ['.html', 'application/octet-stream'],
    ['a.html/b', 'application/octet-stream'],
    ['a.', 'application/octet-stream'],
    ['a.constructor', 'application/octet-stream'],
    ['a.__proto__', 'application/octet-stream'],
    ['.x.json', 'application/json'],
  ];
  test.each(rows)('%s: %s', (path, type) => {
    expect(suggestContentType(path)).toBe(type);
    expect(suggestContentType(path)).toBe(type);
  });

  test('is what mime-types says of every extension, without charset', () => {
    for (const extension of Object.keys(mime.types)) {
      expect(suggestContentType(`x/y.${extension}`)).toBe(mime.lookup(`x/y.${extension}`));
      expect(suggestContentType(`x/y.${extension}`)).not.toContain(';');
    }
  });
});

describe('canonical JSON', () => {
  const shuffled = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return (value as JsonValue[]).map(shuffled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, inner]) => [name, shuffled(inner)]),
    );
  };
  test('does not depend on the order of names, does on that of lists, and loses nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue() as fc.Arbitrary<JsonValue>, (value) => {
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    expect(canonicalJson({ b: 1, a: { d: 1, c: [2, 1] } })).toBe('{"a":{"c":[2,1],"d":1},"b":1}');
  });
});

test.each([
  ['/a', '/a', true],
  ['/a', '/a/b', true],
  ['/a', '/ab', false],
  ['/a', '/', false],
  ['/', '/a', true],
  ['/', '/', true],
])('within %s: %s is %j', (root, path, within) => {
  expect(isWithin(root, path)).toBe(within);
});
