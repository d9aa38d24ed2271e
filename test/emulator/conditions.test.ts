import { expect, test } from 'vitest';
import { put, start, upload, upsert } from './fixture.ts';

const body = { key: 'a.txt', size: 3 };

test('refused: nobody listens, until it is over', async () => {
  const { emulator } = await start();
  await upsert(emulator, body);
  await emulator.conditions.set({ kind: 'refused' });
  await expect(put(emulator, body)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(emulator.conditions.current).toHaveLength(1);
  await emulator.conditions.clear();
  expect((await put(emulator, body)).status).toBe(200);
  expect(emulator.conditions.current).toEqual([]);
});

test('an emulator whose connections are refused can be closed', async () => {
  const { emulator } = await start();
  await emulator.conditions.set({ kind: 'refused' });
  await emulator.close();
});

test('not available: platform and store alike', async () => {
  const { emulator } = await start();
  const file = await upsert(emulator, body);
  await emulator.conditions.set({ kind: 'unavailable' });
  expect((await put(emulator, body)).status).toBe(503);
  expect((await upload(file, 'abc')).status).toBe(503);
  await emulator.conditions.clear();
  expect((await upload(file, 'abc')).status).toBe(200);
});

test.each(['abc', 'x'.repeat(300 * 1024)])('a slow store holds content back', async (content) => {
  const { emulator } = await start();
  const file = await upsert(emulator, { key: 'a.txt', size: content.length });
  await emulator.conditions.set({ kind: 'slow-store', bytesPerSecond: 0.2 });
  const uploading = upload(file, content);
  // Two answers later the body has come.
  await put(emulator, { key: 'b.txt', size: 1 });
  await put(emulator, { key: 'b.txt', size: 1 });
  expect(emulator.readContent('demo-bot', 'a.txt')).toBeNull();
  await emulator.conditions.clear();
  expect((await uploading).status).toBe(200);
  expect(emulator.readContent('demo-bot', 'a.txt')?.toString()).toBe(content);
});

test('a slow store reads on by itself', async () => {
  const { emulator } = await start();
  const file = await upsert(emulator, body);
  await emulator.conditions.set({ kind: 'slow-store', bytesPerSecond: 1000 });
  expect((await upload(file, 'abc')).status).toBe(200);
});

test('a sliding window: what is told, and when a request is let through again', async () => {
  const { emulator, clock } = await start();
  const rateLimit = { requests: 2, windowMs: 10_000, window: 'sliding', tells: 'all' } as const;
  await emulator.conditions.set({ kind: 'rate-limit', rateLimit });
  await put(emulator, body);
  clock.now += 6000;
  const second = await put(emulator, body);
  expect(second.headers).toMatchObject({ 'ratelimit-remaining': '0', 'ratelimit-reset': '4' });
  const refused = await put(emulator, body);
  expect(refused.status).toBe(429);
  expect(refused.headers).toMatchObject({ 'ratelimit-remaining': '0', 'retry-after': '4' });
  clock.now += 4000;
  expect((await put(emulator, body)).status).toBe(200);
  expect((await put(emulator, body)).status).toBe(429);
  clock.now += 6000;
  expect((await put(emulator, body)).status).toBe(200);
});

test.each([
  ['retry-after', true],
  ['nothing', false],
] as const)('a rate limit that tells %s', async (tells, tellsWhen) => {
  const { emulator } = await start();
  const rateLimit = { requests: 1, windowMs: 10_000, tells };
  await emulator.conditions.set({ kind: 'rate-limit', rateLimit });
  expect((await put(emulator, body)).headers).not.toHaveProperty('ratelimit-limit');
  const refused = await put(emulator, body);
  expect(refused.status).toBe(429);
  expect(refused.headers).not.toHaveProperty('ratelimit-remaining');
  expect('retry-after' in refused.headers).toBe(tellsWhen);
});

test('an outage of another status, which ends while uploads stay slow', async () => {
  const { emulator } = await start();
  await emulator.conditions.set({ kind: 'slow-store', bytesPerSecond: 1000 });
  await emulator.conditions.set({ kind: 'unavailable', status: 401 });
  expect((await put(emulator, body)).status).toBe(401);
  emulator.conditions.endOutage();
  expect((await put(emulator, body)).status).toBe(200);
  expect(emulator.conditions.get('slow-store')).not.toBeNull();
});
