import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { ask, get, listKeys, pathOf } from './file-client.ts';
import { findFile, readText, send, start, store, upload, upsert, type Clock } from './fixture.ts';

/** The status of a file at the moments of its life: so many milliseconds after the upload. */
async function statusesAt(
  emulator: Emulator,
  clock: Clock,
  key: string,
  afterMs: readonly number[],
): Promise<string[]> {
  const uploadedAt = clock.now;
  const statuses = [];
  for (const ms of afterMs) {
    clock.now = uploadedAt + ms;
    statuses.push((await get(emulator, key)).status);
  }
  return statuses;
}

describe('a status takes its time', () => {
  const delays = { indexingDelayMs: 2000, indexingProgressMs: 3000 };
  const slowNotice = { kind: 'slow-notice', delayMs: 1000 } as const;

  test('of an indexed file', async () => {
    const { emulator, clock } = await start(delays);
    await emulator.conditions.set(slowNotice);
    await store(emulator, 'a.md', 'abc', { index: true });
    expect(await statusesAt(emulator, clock, 'a.md', [0, 999, 1000, 2999, 3000, 5999, 6000])).toEqual([
      'upload_pending',
      'upload_pending',
      'indexing_pending',
      'indexing_pending',
      'indexing_in_progress',
      'indexing_in_progress',
      'indexing_completed',
    ]);
  });

  test('the size is told when the upload is complete, the stack when the file is indexed', async () => {
    const { emulator, clock } = await start(delays);
    await emulator.conditions.set(slowNotice);
    const body = { index: true, indexing: { configuration: { stack: 'v2' } } };
    const file = await upsert(emulator, { key: 'a.md', size: 3, ...body });
    expect(file.size).toBeNull();
    await upload(file, 'abc');
    expect((await get(emulator, 'a.md')).size).toBeNull();
    clock.now += 1000;
    expect(await get(emulator, 'a.md')).toMatchObject({ size: 3, status: 'indexing_pending' });
    expect(await get(emulator, 'a.md')).not.toHaveProperty('indexingStack');
    clock.now += 5000;
    expect((await get(emulator, 'a.md')).indexingStack).toBe('v2');
    await upsert(emulator, { key: 'a.md', size: 3, ...body });
    expect((await get(emulator, 'a.md')).size).toBeNull();
  });
});

describe('indexing fails', () => {
  test('for the globs of the option', async () => {
    const { emulator } = await start({ failIndexing: ['*bad*', 'docs/*.md'] });
    for (const key of ['docs/bad.txt', 'docs/a.md', 'a.md'])
      await store(emulator, key, 'abc', { index: true });
    expect(await get(emulator, 'docs/bad.txt')).toMatchObject({
      status: 'indexing_failed',
      failedStatusReason: 'The content could not be indexed',
      size: 3,
    });
    expect((await get(emulator, 'docs/a.md')).status).toBe('indexing_failed');
    expect((await get(emulator, 'a.md')).status).toBe('indexing_completed');
  });

  test('under a condition, for content that comes while it lasts', async () => {
    const { emulator } = await start();
    await store(emulator, 'a.md', 'abc', { index: true });
    await emulator.conditions.set({ kind: 'failing-indexing', keys: '*.md', reason: 'Too hard to read' });
    expect((await get(emulator, 'a.md')).status).toBe('indexing_completed');
    await store(emulator, 'a.md', 'abc', { index: true });
    await store(emulator, 'b.md', 'abc');
    await emulator.conditions.clear();
    expect(await get(emulator, 'a.md')).toMatchObject({
      status: 'indexing_failed',
      failedStatusReason: 'Too hard to read',
    });
    expect((await get(emulator, 'b.md')).status).toBe('upload_completed');
    await store(emulator, 'a.md', 'abc', { index: true });
    expect((await get(emulator, 'a.md')).status).toBe('indexing_completed');
  });
});

describe('an upload fails after the store took the bytes', () => {
  test('under a condition, with its reason, and without content, size or usage', async () => {
    const { emulator } = await start({ quotas: { fileStorageBytes: 3 } });
    await emulator.conditions.set({ kind: 'failing-uploads', keys: 'a.*', reason: 'Scanned and refused' });
    const file = await store(emulator, 'a.md', 'abc', { index: true });
    expect(await get(emulator, 'a.md')).toMatchObject({
      status: 'upload_failed',
      failedStatusReason: 'Scanned and refused',
      size: null,
    });
    expect((await send(file.url, 'GET', {})).status).toBe(404);
    expect(findFile(emulator, 'a.md')?.content).toBeNull();
    await emulator.conditions.clear();
    await store(emulator, 'b.md', 'abc');
    await ask(emulator, 'DELETE', pathOf('b.md'));
    await store(emulator, 'a.md', 'xyz', { index: true });
    expect((await get(emulator, 'a.md')).status).toBe('indexing_completed');
    expect(readText(emulator, 'a.md')).toBe('xyz');
  });

  test.each([
    ['File Storage', { quotas: { fileStorageBytes: 5 } }, 'The File Storage quota would be exceeded'],
    ['Vector DB', { quotas: { vectorStorageBytes: 5 } }, 'The Vector DB Storage quota would be exceeded'],
    ['indexed files', { quotas: { indexedFiles: 1 } }, 'The Indexed Files quota would be exceeded'],
    ['size', { limits: { fileBytes: 3 } }, 'size: a file is at most 3 bytes'],
    ['size to index', { limits: { indexBytes: 3 } }, 'size: files larger than 3 bytes cannot be indexed'],
  ])('where limits are looked at late: %s', async (_, options, reason) => {
    const { emulator } = await start(options);
    await store(emulator, 'a.md', 'abc', { index: true });
    await expect(upsert(emulator, { key: 'b.md', size: 4, index: true })).rejects.toThrow(/answered 4/);
    await emulator.conditions.set({ kind: 'late-limits' });
    await store(emulator, 'b.md', 'abcd', { index: true });
    expect(await get(emulator, 'b.md')).toMatchObject({
      status: 'upload_failed',
      failedStatusReason: reason,
    });
    await store(emulator, 'a.md', 'abc', { index: true });
    expect((await get(emulator, 'a.md')).status).toBe('indexing_completed');
  });

  test('and a second upload to the same address begins anew', async () => {
    const { emulator } = await start();
    const file = await upsert(emulator, { key: 'a.md', size: 3 });
    await upload(file, 'abc');
    const path = findFile(emulator, 'a.md')?.content?.path ?? '';
    await emulator.conditions.set({ kind: 'failing-uploads', keys: '**', reason: 'No' });
    await upload(file, 'abc');
    expect((await get(emulator, 'a.md')).status).toBe('upload_failed');
    expect(existsSync(path)).toBe(false);
    await emulator.conditions.clear();
    await upload(file, 'xyz');
    expect(readText(emulator, 'a.md')).toBe('xyz');
  });
});

test('content may go unnoticed for as long as a condition says', async () => {
  const { emulator, clock } = await start();
  await emulator.conditions.set({ kind: 'slow-notice', delayMs: Infinity });
  await store(emulator, 'a.md', 'abc');
  await emulator.conditions.clear();
  clock.now += 1e10;
  expect((await get(emulator, 'a.md')).status).toBe('upload_pending');
  await store(emulator, 'a.md', 'abc');
  expect((await get(emulator, 'a.md')).status).toBe('upload_completed');
});

test('statuses may go back to pending, and come again', async () => {
  const { emulator } = await start();
  await store(emulator, 'a.md', 'abc', { index: true });
  await store(emulator, 'b.md', 'abc');
  await store(emulator, 'c.png', 'abc', { index: true });
  await emulator.conditions.set({ kind: 'pending-again' });
  expect((await get(emulator, 'a.md')).status).toBe('indexing_pending');
  expect((await get(emulator, 'b.md')).status).toBe('upload_pending');
  expect((await get(emulator, 'c.png')).status).toBe('indexing_failed');
  await emulator.conditions.set({ kind: 'pending-again', keys: 'b*' });
  expect((await get(emulator, 'a.md')).status).toBe('indexing_completed');
  expect((await get(emulator, 'b.md')).status).toBe('upload_pending');
  await emulator.conditions.clear();
  expect((await get(emulator, 'b.md')).status).toBe('upload_completed');
});

test('a change of facts leaves the index, but under a condition', async () => {
  const { emulator, clock } = await start({ indexingDelayMs: 1000 });
  const { id } = await store(emulator, 'a.md', 'abc', { index: true });
  clock.now += 1000;
  await ask(emulator, 'PUT', pathOf(id), { tags: { a: '1' } });
  expect((await get(emulator, 'a.md')).status).toBe('indexing_completed');
  await emulator.conditions.set({ kind: 'updates-reindex' });
  await ask(emulator, 'PUT', pathOf(id), { tags: { a: '2' } });
  expect((await get(emulator, 'a.md')).status).toBe('indexing_pending');
  clock.now += 1000;
  expect((await get(emulator, 'a.md')).status).toBe('indexing_completed');
});

test('an upsert may give a key a new id', async () => {
  const { emulator, clock } = await start({ quotas: { fileStorageBytes: 5 } });
  const first = await store(emulator, 'a.md', 'abc');
  await emulator.conditions.set({ kind: 'new-ids' });
  clock.now += 1000;
  const second = await store(emulator, 'a.md', 'abcd');
  expect(second.id).not.toBe(first.id);
  expect(second.createdAt).toBe(second.updatedAt);
  expect((await ask(emulator, 'GET', pathOf(first.id))).status).toBe(404);
  expect((await get(emulator, 'a.md')).id).toBe(second.id);
  expect(await listKeys(emulator)).toEqual(['a.md']);
  await store(emulator, 'b.md', 'x');
});

describe('a list that lags behind', () => {
  test('shows what was there so long ago', async () => {
    const { emulator, clock } = await start();
    const kept = await store(emulator, 'kept.md', 'abc');
    await store(emulator, 'gone.md', 'abc');
    await store(emulator, 'expired.md', 'abc', { expiresAt: '2026-03-01T12:01:00Z' });
    await emulator.conditions.set({ kind: 'lagging-list', lagMs: 60_000 });
    const all = '?sortField=key&sortDirection=asc';
    await store(emulator, 'new.md', 'abc');
    await ask(emulator, 'DELETE', pathOf('gone.md'));
    await ask(emulator, 'PUT', pathOf(kept.id), { tags: { a: '1' } });
    expect(await listKeys(emulator, all)).toEqual(['expired.md', 'gone.md', 'kept.md']);
    expect(await listKeys(emulator, '?tags.a=1')).toEqual([]);
    expect(await listKeys(emulator, `?ids=${kept.id}`)).toEqual(['kept.md']);
    expect((await get(emulator, 'new.md')).status).toBe('upload_completed');
    clock.now += 59_999;
    expect(await listKeys(emulator, all)).toEqual(['expired.md', 'gone.md', 'kept.md']);
    clock.now += 1;
    expect(await listKeys(emulator, all)).toEqual(['expired.md', 'kept.md', 'new.md']);
    expect(await listKeys(emulator, '?tags.a=1')).toEqual(['kept.md']);
    clock.now += 60_000;
    expect(await listKeys(emulator, all)).toEqual(['kept.md', 'new.md']);
  });
});
