import { describe, expect, test } from 'vitest';
import { PlatformAdministration } from '../../src/platform/administration.ts';
import { NEVER } from './fixture.ts';
import { callerHeaders, drop, kindOf, messageOf, play, say, type Operations } from './operations-fixture.ts';

const TOKEN = 'bp_pat_a/token=';

function administration({ http, url, retries }: Operations): PlatformAdministration {
  return new PlatformAdministration(http, url, { token: TOKEN, workspaceId: 'ws-1' }, retries);
}

const FULL = {
  id: 'b1',
  name: 'First',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-02T00:00:00.000Z',
  deployedAt: null,
  unknown: { deep: [1] },
};

describe('listing bots', () => {
  test('asks for one page after the other, as this workspace and nothing more', async () => {
    const platform = await play([
      say(200, { bots: [FULL], meta: { nextToken: 'a/b?c=&ü' } }),
      say(200, { bots: [], meta: { nextToken: 'last' } }),
      say(200, { bots: [{ id: 'b2' }], meta: {}, more: 1 }),
    ]);
    const outcome = await administration(platform).listBots(NEVER);
    expect(outcome).toEqual({ kind: 'ok', value: [FULL, { id: 'b2' }] });
    expect(platform.seen.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['GET', '/v1/admin/bots', ''],
      ['GET', '/v1/admin/bots?nextToken=a%2Fb%3Fc%3D%26%C3%BC', ''],
      ['GET', '/v1/admin/bots?nextToken=last', ''],
    ]);
    for (const seen of platform.seen)
      expect(callerHeaders(seen)).toEqual({ authorization: `Bearer ${TOKEN}`, 'x-workspace-id': 'ws-1' });
  });

  test.each([
    ['no meta', {}],
    ['a meta that is null', { meta: null }],
    ['an empty token', { meta: { nextToken: '' } }],
    ['a token that is null', { meta: { nextToken: null } }],
  ])('ends with %s', async (_, more) => {
    const platform = await play([say(200, { bots: [FULL], ...more })]);
    expect(kindOf(await administration(platform).listBots(NEVER))).toBe('ok');
    expect(platform.seen).toHaveLength(1);
  });

  test('is given up when a page leads back to an earlier one', async () => {
    const page = (nextToken: string) => say(200, { bots: [FULL], meta: { nextToken } });
    const platform = await play([page('2'), page('3'), page('2')]);
    const outcome = await administration(platform).listBots(NEVER);
    expect(messageOf(outcome)).toContain('the list of bots does not end');
    expect(platform.seen).toHaveLength(3);
  });

  test('takes a page of any length', async () => {
    const bots = Array.from({ length: 200_000 }, () => ({ id: 'b' }));
    const platform = await play([say(200, { bots })]);
    expect(await administration(platform).listBots(NEVER)).toEqual({ kind: 'ok', value: bots });
  });

  test('is given up when there is always another page', async () => {
    let pages = 0;
    const another = (): unknown => ({ bots: [], meta: { nextToken: String((pages += 1)) } });
    const platform = await play([
      (response) => {
        say(200, another())(response);
      },
    ]);
    expect(messageOf(await administration(platform).listBots(NEVER))).toContain('does not end');
    expect(pages).toBeLessThan(1_010);
  });

  test.each<[string, unknown]>([
    ['no JSON', '<html>hotel</html>'],
    ['nothing', ''],
    ['null', 'null'],
    ['no bots', {}],
    ['bots that are no list', { bots: {} }],
    ['a bot that is no object', { bots: ['b1'] }],
    ['a bot without id', { bots: [{ name: 'x' }] }],
    ['a bot whose id is a number', { bots: [{ id: 7 }] }],
    ['a token that is no text', { bots: [], meta: { nextToken: 7 } }],
    ['bottomless nesting', `{"bots":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ])('fails for the time being on %s', async (_, body) => {
    const platform = await play([say(200, body)]);
    const outcome = await administration(platform).listBots(NEVER);
    expect(outcome).toMatchObject({
      failure: {
        kind: 'transient',
        message: expect.stringMatching(/^200 with an unexpected answer/u) as string,
      },
    });
    expect(platform.seen).toHaveLength(3);
  });

  test.each<[string, Parameters<typeof play>[0][number], string, number]>([
    ['401', say(401, { type: 'Unauthorized', message: 'no' }), 'credentials', 1],
    ['403', say(403, {}), 'credentials', 1],
    ['404', say(404, {}), 'not-found', 1],
    ['400', say(400, {}), 'refused', 1],
    ['402', say(402, {}), 'quota', 1],
    ['a redirect', say(302, '', { location: 'https://elsewhere.test/' }), 'transient', 3],
    ['429', say(429, {}), 'transient', 3],
    ['500', say(500, {}), 'transient', 3],
    ['a lost connection', drop, 'transient', 3],
  ])('answered by %s', async (_, answer, kind, requests) => {
    const platform = await play([answer]);
    expect(kindOf(await administration(platform).listBots(NEVER))).toBe(kind);
    expect(platform.seen).toHaveLength(requests);
    expect(platform.retried).toHaveLength(requests - 1);
  });

  test('goes on where a page failed for a moment', async () => {
    const platform = await play([
      say(200, { bots: [FULL], meta: { nextToken: '2' } }),
      drop,
      say(503, {}, { 'retry-after': '2' }),
      say(200, { bots: [{ id: 'b2' }] }),
    ]);
    expect(await administration(platform).listBots(NEVER)).toEqual({
      kind: 'ok',
      value: [FULL, { id: 'b2' }],
    });
    expect(platform.seen.map(({ url }) => url)).toEqual([
      '/v1/admin/bots',
      ...Array<string>(3).fill('/v1/admin/bots?nextToken=2'),
    ]);
    // Half of the ceiling; then what was asked for and half of the next ceiling, beside the pause of all requests.
    expect(platform.clock.slept.slice(0, 2)).toEqual([250, 2500]);
  });

  test('does not wait longer than it may', async () => {
    const platform = await play([say(429, {}, { 'retry-after': '61' })]);
    expect(kindOf(await administration(platform).listBots(NEVER))).toBe('transient');
    expect(platform.seen).toHaveLength(1);
    expect(platform.clock.slept).toEqual([]);
  });

  test('ends when it is told to', async () => {
    const platform = await play([() => undefined]);
    const stop = new AbortController();
    const asking = administration(platform).listBots(stop.signal);
    await expect.poll(() => platform.seen.length).toBe(1);
    stop.abort();
    expect(messageOf(await asking)).toBe('interrupted');
    expect(platform.seen).toHaveLength(1);
  });
});

describe('getting an integration', () => {
  test.each([
    ['slack', 'latest', '/slack/latest'],
    ['@ws/my-int', '^1.0.0', '/%40ws%2Fmy-int/%5E1.0.0'],
    ['a b', '>=1 <2 || *', '/a%20b/%3E%3D1%20%3C2%20%7C%7C%20*'],
    ['ü?#%2F', '1.x', '/%C3%BC%3F%23%252F/1.x'],
  ])('%s %s is asked for by its whole name', async (name, version, path) => {
    const integration = { id: 'i1', name, version, signingSecret: 's', verificationStatus: 'new', extra: {} };
    const platform = await play([say(200, { integration })]);
    const outcome = await administration(platform).getIntegration(name, version, false, NEVER);
    expect(outcome).toEqual({ kind: 'ok', value: integration });
    expect(platform.seen[0]).toMatchObject({
      method: 'GET',
      url: `/v1/admin/hub/integrations${path}`,
    });
    expect(callerHeaders(platform.seen[0])).toEqual({
      authorization: `Bearer ${TOKEN}`,
      'x-workspace-id': 'ws-1',
    });
  });

  test('says so when instances may come keyed by alias', async () => {
    const platform = await play([say(200, { integration: { id: 'i' } })]);
    await administration(platform).getIntegration('a', '1', true, NEVER);
    expect(platform.seen[0]?.headers['x-multiple-integrations']).toBe('true');
  });

  test.each([
    ['', 'latest'],
    ['..', 'latest'],
    ['a', '.'],
    ['\ud800', '1'],
  ])('%j %j is not sent', async (name, version) => {
    const platform = await play([say(200, {})]);
    expect(kindOf(await administration(platform).getIntegration(name, version, false, NEVER))).toBe(
      'refused',
    );
    expect(platform.seen).toEqual([]);
  });

  test('that does not exist is told apart', async () => {
    const platform = await play([say(404, { type: 'ResourceNotFound', message: 'no such' })]);
    expect(await administration(platform).getIntegration('a', '1', false, NEVER)).toEqual({
      kind: 'failed',
      failure: { kind: 'not-found', message: '404 ResourceNotFound: no such' },
    });
  });

  test.each([{}, { integration: null }, { integration: [] }, { integration: {} }])(
    'answered by %j fails for the time being',
    async (body) => {
      const platform = await play([say(200, body)]);
      expect(kindOf(await administration(platform).getIntegration('a', '1', false, NEVER))).toBe('transient');
    },
  );

  test.each([200, 301, 400, 401, 403, 404, 429, 500])('%d never tells the token', async (status) => {
    const said = { type: `T ${TOKEN}`, message: `${'x'.repeat(280)} Bearer ${TOKEN}` };
    const platform = await play([say(status, said, { location: `https://u:p@h.test/${TOKEN}` })]);
    const outcome = await administration(platform).getIntegration('a', '1', false, NEVER);
    expect(JSON.stringify([outcome, platform.retried])).not.toContain('bp_pat_');
  });
});
