import { expect, test } from 'vitest';
import { maskSecrets } from '../../src/cli/render/resource.ts';
import type { JsonValue } from '../../src/domain/json.ts';

test.each<[JsonValue, JsonValue]>([
  [{ signingSecret: 's' }, { signingSecret: '***' }],
  [{ a: [{ b: { clientSecret: 's', name: 'n' } }] }, { a: [{ b: { clientSecret: '***', name: 'n' } }] }],
  [{ secrets: ['A', 'B'] }, { secrets: ['***', '***'] }],
  [
    { access_token: 't', apiKey: 'k', 'api-key': 'k', userKey: 'k', PASSWORD: 'p' },
    { access_token: '***', apiKey: '***', 'api-key': '***', userKey: '***', PASSWORD: '***' },
  ],
  // What describes a secret is none.
  [{ properties: { token: { type: 'string' } } }, { properties: { token: { type: 'string' } } }],
  [
    { token: '', secret: null, tokens: 7, key: 'a.md', secretary: 'x' },
    { token: '', secret: null, tokens: 7, key: 'a.md', secretary: 'x' },
  ],
  [
    { note: 'Bearer known-key!', 'known-key': 1, short: 'x' },
    { note: 'Bearer ***!', '***': 1, short: 'x' },
  ],
])('%j becomes %j', (value, masked) => {
  expect(maskSecrets(value, ['known-key', 'x'], true)).toEqual(masked);
});

test('with fields shown, known secrets still go', () => {
  expect(maskSecrets({ signingSecret: 's known-key' }, ['known-key'], false)).toEqual({
    signingSecret: 's ***',
  });
});
