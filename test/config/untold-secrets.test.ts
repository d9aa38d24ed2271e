import { describe, expect, test } from 'vitest';
import { configText, linesOf } from './fixture.ts';
import { platform } from './problem-rows.ts';

describe('secrets', () => {
  const secret = 'bp_pat_5up3rS3cret';
  const places: readonly (readonly [string, (value: unknown) => object])[] = [
    ['token', (value) => platform({ token: value })],
    ['userKey', (value) => platform({ chat: { webhookId: 'w', userKey: value } })],
    ['a misspelt field', (value) => platform({ tokn: value })],
    ['chat itself', (value) => platform({ chat: value })],
    ['platform itself', (value) => ({ platform: value })],
    ['an address', (value) => platform({ baseUrl: `https://me:${String(value)}@x` })],
    ['a query', (value) => platform({ baseUrl: `https://x?token=${String(value)}` })],
    ['a broken address', (value) => platform({ baseUrl: `me:${String(value)}@x` })],
    ['the database of a cluster', (value) => ({ cluster: { database: value } })],
    ['a cluster itself', (value) => ({ cluster: value })],
    ['an id', (value) => platform({ botId: `Bearer ${String(value)}` })],
  ];
  const values = [secret, `env:${secret}`, `credential:${secret}`, `${secret} `, { [`x`]: secret }, [secret]];
  test.each(places)('one written out as %s is refused and not told', (_name, fields) => {
    for (const value of values) {
      const { problems } = linesOf(configText(fields(value) as Record<string, unknown>));
      expect(problems).not.toEqual([]);
      expect(problems.join('\n')).not.toContain(secret);
    }
    const digits = 1234567890;
    expect(linesOf(configText(platform({ token: digits }))).problems.join('')).not.toContain(String(digits));
  });

  test.each(['database', 'schema', 'host', 'databse', 'lease'])(
    'the address of a database as cluster.%s is refused and not told',
    (field) => {
      for (const password of [secret, `a/${secret}`, `a@b://${secret}`]) {
        const address = `postgresql://me:${password}@db.example/botsync`;
        const cluster = { database: 'env:BOTSYNC_DATABASE', [field]: address };
        const { problems } = linesOf(configText({ cluster }));
        expect(problems).not.toEqual([]);
        expect(problems.join('\n')).not.toContain(secret);
      }
    },
  );
});
