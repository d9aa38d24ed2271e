import { expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { ask } from './file-client.ts';
import { errorBody, start, store, upsert } from './fixture.ts';

async function usage(emulator: Emulator, id: string, type: string): Promise<unknown> {
  const headers = { 'x-workspace-id': emulator.workspaceId };
  const { status, body } = await ask(emulator, 'GET', `/v1/admin/usages/${id}?type=${type}`, null, headers);
  if (status !== 200) throw new Error(`it answered ${status}`);
  return (body as { usage: unknown }).usage;
}

test('the usage of the workspace and of a bot, with the quotas', async () => {
  const { emulator } = await start({
    bots: ['b1', 'b2'].map((id) => ({ id, name: id })),
    quotas: { fileStorageBytes: 100, vectorStorageBytes: 50, indexedFiles: 7 },
    limits: { fileBytes: 80 },
    rateLimit: { requests: 60, windowMs: 1000 },
  });
  await store(emulator, 'a.md', 'abc', { index: true });
  await store(emulator, 'b.md', 'abcd');
  await upsert(emulator, { key: 'a.md', size: 5, index: true }, { 'x-bot-id': 'b2' });
  const table: [type: string, workspace: number, bot: number, quota: number][] = [
    ['storage_count', 12, 7, 100],
    ['knowledgebase_vector_storage', 8, 3, 50],
    ['indexed_file_count', 2, 1, 7],
    ['file_max_size_bytes', 5, 4, 80],
    ['workspace_ratelimit', 0, 0, 60],
  ];
  const period = '2026-03-01T00:00:00.000Z';
  for (const [type, workspace, bot, quota] of table) {
    const id = emulator.workspaceId;
    expect(await usage(emulator, id, type)).toEqual({ id, period, value: workspace, quota, type });
    expect(await usage(emulator, 'b1', type)).toEqual({ id: 'b1', period, value: bot, quota, type });
  }
});

test('the quota of indexed files holds', async () => {
  const { emulator } = await start({ quotas: { indexedFiles: 1 } });
  const { id } = await store(emulator, 'a.md', 'abc', { index: true });
  await store(emulator, 'a.md', 'abc', { index: true });
  await expect(upsert(emulator, { key: 'b.md', size: 1, index: true })).rejects.toThrow(/QuotaExceeded/);
  await store(emulator, 'b.md', 'x');
  await ask(emulator, 'DELETE', `/v1/files/${id}`);
  await store(emulator, 'b.md', 'x', { index: true });
});

test.each([
  ['another id', 'nobody', 'storage_count', {}, 404, 'ResourceNotFound'],
  ['another type', 'demo-bot', 'coffee', {}, 400, 'InvalidQuery'],
  ['no workspace', 'demo-bot', 'storage_count', { 'x-workspace-id': null }, 401, 'Unauthorized'],
  ['no token', 'demo-bot', 'storage_count', { authorization: null }, 401, 'Unauthorized'],
])('%s is refused', async (_, id, type, headers, status, errorType) => {
  const { emulator } = await start();
  const all = { 'x-workspace-id': emulator.workspaceId, ...headers };
  expect(await ask(emulator, 'GET', `/v1/admin/usages/${id}?type=${type}`, null, all)).toMatchObject({
    status,
    body: errorBody(status, errorType),
  });
});
