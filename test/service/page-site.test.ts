import { describe, expect, test } from 'vitest';
import type { PageAction } from '../../src/service/page-source.ts';
import { createSiteWorld, SECRET, type SiteWorld } from './page-world.ts';

const MINUTE_MS = 60_000;
const APPROVE: PageAction = { kind: 'approve', source: 'docs', halt: '1a' };
const LOCKED = '{"query":"","kind":"locked","notice":null}';

/** What a page says of what its visitor may do. */
async function accessOf({ send }: SiteWorld, cookie = ''): Promise<Record<string, unknown>> {
  const { body } = await send('GET', '/', { cookie });
  return JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1)) as Record<string, unknown>;
}

describe('the page', () => {
  test('comes with what keeps others from it, whole or its headers alone', async () => {
    const { send } = await createSiteWorld(null);
    const answer = await send('GET', '/?q=a%26b&q=2');
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'none'",
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
      },
      body: '<!doctype html><pre>{"query":"q=a%26b&q=2","kind":"look-only"}</pre>',
    });
    const head = await send('HEAD', '/?q=a%26b&q=2');
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers['content-length']).toBe(answer.headers['content-length']);
  });

  test('has a list of files, as well kept from others, of which only so many are made at a time', async () => {
    const { send } = await createSiteWorld(null);
    const { headers } = await send('GET', '/');
    const list = await send('GET', '/files?state=kept');
    expect(list).toMatchObject({ status: 200, body: '<!doctype html><p>state=kept</p>' });
    for (const shield of ['content-security-policy', 'x-frame-options', 'referrer-policy', 'cache-control'])
      expect(list.headers[shield]).toBe(headers[shield]);
    expect(await send('GET', '/files?busy')).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect(await send('POST', '/files')).toMatchObject({ status: 405 });
    expect(await send('GET', '/files', { host: 'evil.example' })).toMatchObject({ status: 421 });
  });

  test('asks the platform for nobody whom another page sent', async () => {
    const { send } = await createSiteWorld(null);
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'http://evil.example' },
    ])
      expect((await send('GET', '/?file=docs/a', headers)).body).toContain('"mayAsk":false');
    for (const headers of [{}, { 'sec-fetch-site': 'none' }, { 'sec-fetch-site': 'same-origin' }])
      expect((await send('GET', '/?file=docs/a', headers)).body).not.toContain('mayAsk');
  });

  test('and its events are for those who name this machine', async () => {
    const { send } = await createSiteWorld();
    for (const target of ['/', '/events', '/session', '/control'])
      expect(await send('GET', target, { host: 'evil.example' })).toMatchObject({ status: 421 });
  });

  test('leaves the other paths alone', async () => {
    const { send } = await createSiteWorld();
    expect(await send('GET', '/healthz')).toMatchObject({ status: 200, body: 'ok\n' });
    expect(await send('POST', '/approve')).toMatchObject({ status: 404 });
    expect(await send('POST', '/')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
    expect(await send('DELETE', '/control')).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });

  test('without a secret takes no form at all', async () => {
    const { submit, acted } = await createSiteWorld(null);
    expect(await submit('/session', { secret: '' })).toMatchObject({ status: 404 });
    expect(await submit('/control', { action: 'action=approve&source=docs' })).toMatchObject({ status: 404 });
    expect(acted).toEqual([]);
  });
});

describe('who sends a form', () => {
  test.each([
    [{ origin: 'http://HERE' }, 303],
    [{ origin: 'https://HERE' }, 303],
    [{ origin: 'null', 'sec-fetch-site': 'same-origin' }, 303],
    [{ origin: 'http://evil.example' }, 403],
    [{ origin: 'http://localhost:1' }, 403],
    [{ origin: 'http://127.0.0.1' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'null', 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'http://HERE.evil.example' }, 403],
    [{ origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' }, 403],
    [{ origin: 'https://mirror.example', 'sec-fetch-site': 'same-origin' }, 303],
  ])('has to come from a page of this address: %j gives %i', async (written, status) => {
    const { submit, address } = await createSiteWorld();
    const headers = Object.fromEntries(
      Object.entries(written).map(([name, value]) => [name, value.replace('HERE', address)]),
    );
    expect(await submit('/session', { secret: SECRET }, headers)).toMatchObject({ status });
  });

  test('and nobody who does not say where the form is from', async () => {
    const { send, acted, signIn } = await createSiteWorld();
    const { cookie, csrf } = await signIn();
    const form = new URLSearchParams({ csrf, action: 'action=approve&source=docs' }).toString();
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(await send('POST', '/control', { cookie, ...type }, form)).toMatchObject({ status: 403 });
    expect(acted).toEqual([]);
  });

  test('takes a form of reasonable size, and nothing else', async () => {
    const { send, submit, address } = await createSiteWorld();
    const origin = `http://${address}`;
    const type = 'application/x-www-form-urlencoded; charset=utf-8';
    const wrong = { origin, 'content-type': 'application/json' };
    expect(await send('POST', '/session', wrong, `{"secret":"${SECRET}"}`)).toMatchObject({ status: 415 });
    expect(await submit('/session', { secret: 'x'.repeat(9000) })).toMatchObject({ status: 413 });
    const unsized = { origin, 'content-type': type, 'transfer-encoding': 'chunked' };
    expect(await send('POST', '/session', unsized, 'x'.repeat(9000))).toMatchObject({ status: 413 });
    expect(await send('POST', '/session', unsized, `secret=${SECRET}`)).toMatchObject({ status: 303 });
  });
});

describe('signing in', () => {
  test('takes the secret, and gives a cookie that scripts and other sites do not get', async () => {
    const world = await createSiteWorld();
    const { submit, noted, address } = world;
    expect(await accessOf(world)).toEqual(JSON.parse(LOCKED));
    const answer = await submit('/session?q=a+b', { secret: SECRET });
    expect(answer).toMatchObject({ status: 303, headers: { location: '/?q=a+b' }, body: '' });
    const [cookie = ''] = answer.headers['set-cookie'] ?? [];
    const port = address.split(':')[1];
    expect(cookie).toMatch(
      new RegExp(`^botsync-session-${port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/$`, 'u'),
    );
    expect(await accessOf(world, `x=y; ${cookie.split(';')[0] ?? ''}`)).toMatchObject({ kind: 'open' });
    expect(noted).toEqual([
      { level: 'info', message: 'the page: signed in', fields: { client: '127.0.0.1' } },
    ]);
  });

  test('over a proxy that speaks https, for https alone', async () => {
    const { submit, address } = await createSiteWorld();
    const answer = await submit('/session', { secret: SECRET }, { origin: `https://${address}` });
    expect(answer.headers['set-cookie']?.[0]).toContain('; Secure');
  });

  test.each(['', 'x', `${SECRET}x`, SECRET.slice(1), SECRET.toUpperCase()])(
    'refuses the secret %j, and notes who tried',
    async (secret) => {
      const world = await createSiteWorld();
      const answer = await world.submit('/session', { secret });
      expect(answer.status).toBe(403);
      expect(answer.headers['set-cookie']).toBeUndefined();
      expect(answer.headers['content-security-policy']).toBe("default-src 'none'");
      expect(answer.body).toContain('That is not the secret that service.control names.');
      expect(world.noted).toEqual([
        { level: 'warn', message: 'the page: a wrong secret', fields: { client: '127.0.0.1' } },
      ]);
    },
  );

  test('is refused for a while after many wrong secrets, even with the right one', async () => {
    const { submit, clock, noted } = await createSiteWorld();
    // At once, so that none waits for another.
    const tried = await Promise.all(
      Array.from({ length: 12 }, (_, position) => submit('/session', { secret: `wrong ${position}` })),
    );
    const statuses = tried.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(5).fill(403), ...Array<number>(7).fill(429)]);
    const refused = await submit('/session', { secret: SECRET });
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '12' } });
    expect(refused.body).toContain('Too many attempts; wait 12 seconds.');
    expect(noted).toHaveLength(5);
    await clock.advance(12_000);
    expect(await submit('/session', { secret: SECRET })).toMatchObject({ status: 303 });
  });

  test('a page that answered a form can be loaded again', async () => {
    const { send } = await createSiteWorld();
    for (const path of ['/session', '/control'])
      expect(await send('GET', `${path}?q=1`)).toMatchObject({ status: 303, headers: { location: '/?q=1' } });
    expect(await send('GET', '/control?//evil.example%0d%0aa:b')).toMatchObject({
      headers: { location: '/?%2F%2Fevil.example%0D%0Aa%3Ab=' },
    });
  });
});

describe('acting', () => {
  test('does what was asked, tells once what it came to, and notes who it was', async () => {
    const world = await createSiteWorld();
    const visitor = await world.signIn();
    const retry: PageAction = { kind: 'retry', source: 'docs', path: 'a\n<b>&.md' };
    expect(await world.ask(visitor, retry, '/control?q=x')).toMatchObject({
      status: 303,
      headers: { location: '/?q=x' },
    });
    expect(world.acted).toEqual([retry]);
    expect(await world.send('HEAD', '/', { cookie: visitor.cookie })).toMatchObject({ status: 200 });
    expect(await accessOf(world, visitor.cookie)).toMatchObject({ notice: 'done: retry' });
    expect(await accessOf(world, visitor.cookie)).toMatchObject({ notice: null });
    expect(world.noted.at(-1)).toEqual({
      level: 'info',
      message: 'the page: retry',
      fields: { source: 'docs', path: 'a\n<b>&.md', outcome: 'done: retry', client: '127.0.0.1' },
    });
  });

  test('needs a session', async () => {
    const world = await createSiteWorld();
    const { csrf } = await world.signIn();
    for (const cookie of ['', `botsync-session-${world.address.split(':')[1]}=x`]) {
      const answer = await world.ask({ cookie, csrf }, APPROVE);
      expect(answer.status).toBe(403);
      expect(answer.body).toContain('"kind":"locked"');
    }
    expect(world.acted).toEqual([]);
  });

  test.each(['', 'x'])('needs the token of the page, and not %j', async (csrf) => {
    const world = await createSiteWorld();
    const { cookie } = await world.signIn();
    expect(await world.ask({ cookie, csrf }, APPROVE)).toMatchObject({ status: 403 });
    expect(world.acted).toEqual([]);
    expect(world.noted.at(-1)).toEqual({
      level: 'warn',
      message: 'the page: a form of another session',
      fields: { client: '127.0.0.1' },
    });
  });

  test('needs the token of this session', async () => {
    const world = await createSiteWorld();
    const [one, other] = [await world.signIn(), await world.signIn()];
    expect(one.csrf).not.toBe(other.csrf);
    expect(await world.ask({ cookie: one.cookie, csrf: other.csrf }, APPROVE)).toMatchObject({ status: 403 });
    expect(world.acted).toEqual([]);
  });

  test('takes no form without a token at all, and no unknown action', async () => {
    const world = await createSiteWorld();
    const { cookie, csrf } = await world.signIn();
    const bare = { action: 'action=approve&source=docs' };
    expect(await world.submit('/control', bare, { cookie })).toMatchObject({ status: 403 });
    const unknown = { csrf, action: 'action=reload' };
    expect(await world.submit('/control', unknown, { cookie })).toMatchObject({ status: 400 });
    expect(world.acted).toEqual([]);
  });

  test('is limited', async () => {
    const world = await createSiteWorld();
    const visitor = await world.signIn();
    for (let count = 0; count < 20; count += 1)
      expect(await world.ask(visitor, APPROVE)).toMatchObject({ status: 303 });
    const answer = await world.ask(visitor, APPROVE);
    expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    expect(answer.body).toContain('"kind":"open"');
    expect(world.acted).toHaveLength(20);
    await world.clock.advance(1000);
    expect(await world.ask(visitor, APPROVE)).toMatchObject({ status: 303 });
  });

  test('that fails is told to the daemon, not to the visitor', async () => {
    const world = await createSiteWorld(SECRET, () => Promise.reject(new Error('inner')));
    const answer = await world.ask(await world.signIn(), APPROVE);
    expect(answer).toMatchObject({ status: 500, body: 'internal error; see the log\n' });
    expect(world.failures).toEqual([new Error('inner')]);
  });
});

describe('a session ends', () => {
  test('when its visitor signs out', async () => {
    const world = await createSiteWorld();
    const visitor = await world.signIn();
    const answer = await world.ask(visitor, { kind: 'sign-out' });
    expect(answer.headers['set-cookie']?.[0]).toContain('; Max-Age=0');
    expect(await accessOf(world, visitor.cookie)).toMatchObject({ kind: 'locked' });
    expect(world.acted).toEqual([]);
    expect(world.noted.at(-1)).toMatchObject({ message: 'the page: signed out' });
  });

  test('after half an hour without a visit', async () => {
    const world = await createSiteWorld();
    const visitor = await world.signIn();
    await world.clock.advance(29 * MINUTE_MS);
    expect(await accessOf(world, visitor.cookie)).toMatchObject({ kind: 'open' });
    await world.clock.advance(29 * MINUTE_MS);
    expect(await accessOf(world, visitor.cookie)).toMatchObject({ kind: 'open' });
    await world.clock.advance(30 * MINUTE_MS);
    expect(await world.ask(visitor, APPROVE)).toMatchObject({ status: 403 });
    expect(world.acted).toEqual([]);
  });

  test('when the secret becomes another one, and not when it stays', async () => {
    const world = await createSiteWorld();
    const visitor = await world.signIn();
    world.site.adopt(SECRET);
    expect(await accessOf(world, visitor.cookie)).toMatchObject({ kind: 'open' });
    world.site.adopt(`${SECRET}-2`);
    expect(await accessOf(world, visitor.cookie)).toMatchObject({ kind: 'locked' });
    expect(await world.submit('/session', { secret: SECRET })).toMatchObject({ status: 403 });
    expect(await world.submit('/session', { secret: `${SECRET}-2` })).toMatchObject({ status: 303 });
    world.site.adopt(null);
    expect(await accessOf(world)).toMatchObject({ kind: 'look-only' });
  });

  test('when more than 32 signed in after it', async () => {
    const world = await createSiteWorld();
    const first = await world.signIn();
    const second = await world.signIn();
    // Used after the second one.
    await accessOf(world, first.cookie);
    for (let count = 0; count < 31; count += 1) await world.submit('/session', { secret: SECRET });
    expect(await accessOf(world, first.cookie)).toMatchObject({ kind: 'open' });
    expect(await accessOf(world, second.cookie)).toMatchObject({ kind: 'locked' });
  });
});

test('no secret and no session is in what is noted', async () => {
  const world = await createSiteWorld();
  const visitor = await world.signIn();
  await world.ask(visitor, APPROVE);
  await world.submit('/session', { secret: `${SECRET}-almost` });
  await world.ask({ ...visitor, csrf: 'x' }, APPROVE);
  const told = JSON.stringify(world.noted);
  for (const secret of [SECRET, visitor.csrf, visitor.cookie.split('=')[1] ?? '-'])
    expect(told).not.toContain(secret);
});
