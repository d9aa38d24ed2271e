import { expect, test } from 'vitest';
import { put, send, start, store, upload, upsert } from './fixture.ts';

test('requests are counted always and recorded when asked for', async () => {
  const { emulator } = await start();
  await store(emulator, 'a.txt', 'abc');
  await put(emulator, {});
  await send(`${emulator.baseUrl}/nowhere`, 'GET', {});
  expect(Object.fromEntries(emulator.counts)).toEqual({ upsert: 2, upload: 1, unknown: 1 });
  expect(emulator.requests).toEqual([]);
});

test('the log has what a test wants to know and no secret', async () => {
  const { emulator } = await start({ recordRequests: true });
  const file = await upsert(emulator, { key: 'a.txt', size: 3 }, { 'x-user-key': 'secret-user-key' });
  await upload(file, 'abc');
  await put(emulator, { key: 'a.txt', size: -1 });
  await send(file.url, 'HEAD', {});
  expect(emulator.requests).toMatchObject([
    { operation: 'upsert', method: 'PUT', path: '/v1/files', status: 200, key: 'a.txt', botId: 'demo-bot' },
    { operation: 'upload', method: 'PUT', path: new URL(file.uploadUrl).pathname, status: 200, key: 'a.txt' },
    { operation: 'upsert', status: 400, key: 'a.txt' },
    { operation: 'content', method: 'HEAD', status: 200, key: 'a.txt' },
  ]);
  expect(emulator.requests[0]?.headers).toMatchObject({ authorization: '***', 'x-bot-id': 'demo-bot' });
  const text = JSON.stringify(emulator.requests);
  for (const secret of [emulator.token, 'secret-user-key', 'X-Amz-Signature'])
    expect(text).not.toContain(secret);
});

test('the log forgets the oldest', async () => {
  const { emulator } = await start({ recordRequests: true, recordedRequestsMax: 2 });
  for (const key of ['a', 'b', 'c']) await upsert(emulator, { key, size: 1 });
  expect(emulator.requests.map((request) => request.key)).toEqual(['b', 'c']);
});

test('the rate limit: headers on API answers, 429 beyond it, a new window after it', async () => {
  const { emulator, clock } = await start({ rateLimit: { requests: 2, windowMs: 10_000 } });
  const body = { key: 'a.txt', size: 3 };
  const first = await put(emulator, body);
  expect(first.headers).toMatchObject({
    'ratelimit-limit': '2',
    'ratelimit-remaining': '1',
    'ratelimit-reset': '10',
  });
  clock.now += 4_500;
  const file = await upsert(emulator, body);
  const refused = await put(emulator, { ...body, key: 'b.txt' });
  expect(refused.status).toBe(429);
  expect(refused.headers).toMatchObject({
    'ratelimit-remaining': '0',
    'ratelimit-reset': '6',
    'retry-after': '6',
  });
  expect(JSON.parse(refused.text)).toMatchObject({ code: 429, type: 'RateLimited' });
  expect(emulator.listFiles('demo-bot').map((each) => each.key)).toEqual(['a.txt']);
  // The object store has no such limit.
  const stored = await upload(file, 'abc');
  expect(stored.status).toBe(200);
  expect(stored.headers).not.toHaveProperty('ratelimit-limit');
  clock.now += 5_500;
  expect((await put(emulator, body)).status).toBe(200);
});
