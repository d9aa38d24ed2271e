import { expect, test } from 'vitest';
import { PlatformUsage } from '../../src/platform/usage.ts';
import { start, store } from '../emulator/fixture.ts';
import { connect, NEVER, upsertBody } from './fixture.ts';
import { callerHeaders, kindOf, play, say, type Operations } from './operations-fixture.ts';

const WORKSPACE = 'wk/1 ü';

function usageOf({ http, url, retries }: Operations, workspaceId = WORKSPACE): PlatformUsage {
  return new PlatformUsage(http, url, { token: 'a-token', workspaceId }, { ...retries, attempts: 1 });
}

const answer = (value: unknown, quota: unknown) =>
  say(200, { usage: { id: 'x', period: 'p', value, quota, type: 't' } });

test('the four that have to do with files are asked for the workspace, and the numbers are left as they are', async () => {
  const platform = await play([
    answer(12, 100),
    answer(0.5, null),
    answer(3, 7),
    answer(9, Number.MAX_SAFE_INTEGER),
  ]);
  expect(await usageOf(platform).all(NEVER)).toEqual({
    kind: 'ok',
    value: {
      storage: { used: 12, allowed: 100 },
      vectorStorage: { used: 0.5, allowed: null },
      indexedFiles: { used: 3, allowed: 7 },
      largestFile: { used: 9, allowed: Number.MAX_SAFE_INTEGER },
    },
  });
  expect(platform.seen.map(({ method, url }) => `${method ?? ''} ${url ?? ''}`)).toEqual(
    ['storage_count', 'knowledgebase_vector_storage', 'indexed_file_count', 'file_max_size_bytes'].map(
      (type) => `GET /v1/admin/usages/wk%2F1%20%C3%BC?type=${type}`,
    ),
  );
  expect(callerHeaders(platform.seen[0])).toMatchObject({ authorization: 'Bearer a-token' });
});

test('the emulator is understood', async () => {
  const { emulator } = await start({
    quotas: { fileStorageBytes: 100, vectorStorageBytes: 50, indexedFiles: 7 },
  });
  await store(emulator, 'a.md', 'abc', { index: true });
  const { http } = connect(emulator.baseUrl);
  const { token, workspaceId } = emulator;
  const retries = { attempts: 1, giveUpAfterMs: 1000, random: Math.random, onRetry: () => undefined };
  const usage = new PlatformUsage(http, emulator.baseUrl, { token, workspaceId }, retries);
  expect(await usage.all(NEVER)).toMatchObject({
    value: {
      storage: { used: 3, allowed: 100 },
      vectorStorage: { used: 3, allowed: 50 },
      indexedFiles: { used: 1, allowed: 7 },
      largestFile: { used: 3 },
    },
  });
});

test.each<[string, number, unknown, string]>([
  ['401', 401, { type: 'Unauthorized', message: 'no' }, 'credentials'],
  ['403', 403, { type: 'Forbidden', message: 'no' }, 'not-served'],
  ['404 MethodNotFound', 404, { type: 'MethodNotFound' }, 'not-served'],
  ['404 ResourceNotFound', 404, { type: 'ResourceNotFound' }, 'not-found'],
  ['429', 429, {}, 'transient'],
  ['503', 503, {}, 'transient'],
  ['no usage', 200, { usages: [] }, 'transient'],
  ['a usage that is no number', 200, { usage: { value: '12', quota: 5 } }, 'transient'],
  ['a usage below nothing', 200, { usage: { value: -1, quota: 5 } }, 'transient'],
  ['no JSON', 200, '<html>', 'transient'],
])('an answer of %s is one failure, after one request', async (_, status, body, kind) => {
  const platform = await play([say(status, body)]);
  expect(kindOf(await usageOf(platform).all(NEVER))).toBe(kind);
  expect(platform.seen).toHaveLength(1);
});

test('a platform need not know every type', async () => {
  const platform = await play([answer(12, 100), say(400, { type: 'InvalidQuery', message: 'type' })]);
  expect(await usageOf(platform).all(NEVER)).toEqual({
    kind: 'ok',
    value: {
      storage: { used: 12, allowed: 100 },
      vectorStorage: null,
      indexedFiles: null,
      largestFile: null,
    },
  });
});

test('an id that leads elsewhere is not asked for', async () => {
  const platform = await play([answer(1, 1)]);
  expect(kindOf(await usageOf(platform, '..').all(NEVER))).toBe('refused');
  expect(platform.seen).toEqual([]);
});

test.each(['unlimited', -1, {}, undefined])('a quota of %j is none that is told', async (quota) => {
  const platform = await play([answer(12, quota)]);
  const asked = await usageOf(platform).all(NEVER);
  expect(asked).toMatchObject({ value: { storage: { used: 12, allowed: null } } });
});

test('these requests wait behind those of files', async () => {
  const platform = await play([answer(1, 1)], { concurrency: 1, limits: { maxRequestsPerSecond: 1 } });
  await platform.pacer.turn('store', NEVER, 'question');
  const asked = usageOf(platform).all(NEVER);
  const files = ['a', 'b', 'c'].map((key) => platform.platform.upsert('b', upsertBody(key, 1), NEVER));
  await Promise.all([asked, ...files]);
  expect(platform.seen.slice(0, 4).map(({ method }) => method)).toEqual(['PUT', 'PUT', 'PUT', 'GET']);
});
