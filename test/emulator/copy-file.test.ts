import { describe, expect, test } from 'vitest';
import { ask, fileOf, get, listKeys, pathOf } from './file-client.ts';
import { errorBody, readText, start, store, upsert } from './fixture.ts';

const SAID = {
  tags: { kind: 'page' },
  metadata: { pages: [1] },
  accessPolicies: ['integrations'],
  contentType: 'text/x-odd',
  index: true,
};

describe('a copy', () => {
  test('has the content and all that is said of the file but its expiry', async () => {
    const { emulator, clock } = await start({ indexingDelayMs: 1000 });
    const source = await store(emulator, 'a/ö.md', 'abc', { ...SAID, expiresAt: '2026-03-01T12:10:00Z' });
    clock.now += 5000;
    const file = await fileOf(
      ask(emulator, 'POST', pathOf('a/ö.md', `/${encodeURIComponent('b/ä.md')}`), {}),
    );
    expect(file).toMatchObject({
      ...SAID,
      key: 'b/ä.md',
      size: 3,
      status: 'indexing_pending',
      createdAt: new Date(clock.now).toISOString(),
    });
    expect(file.id).not.toBe(source.id);
    expect(file).not.toHaveProperty('expiresAt');
    expect(readText(emulator, 'b/ä.md')).toBe('abc');
    await ask(emulator, 'DELETE', pathOf(source.id));
    expect(readText(emulator, 'b/ä.md')).toBe('abc');
    clock.now += 1000;
    expect((await get(emulator, file.id)).status).toBe('indexing_completed');
  });

  test('overwrites only when it is to, and keeps the id then', async () => {
    const { emulator } = await start();
    const { id } = await store(emulator, 'a.md', 'new');
    const old = await store(emulator, 'b.md', 'old');
    for (const body of [{}, { overwrite: false }]) {
      expect(await ask(emulator, 'POST', pathOf(id, '/b.md'), body)).toMatchObject({
        status: 409,
        body: errorBody(409, 'AlreadyExists'),
      });
    }
    expect(readText(emulator, 'b.md')).toBe('old');
    expect(await fileOf(ask(emulator, 'POST', pathOf(id, '/b.md'), { overwrite: true }))).toMatchObject({
      id: old.id,
    });
    expect(readText(emulator, 'b.md')).toBe('new');
  });

  test('may go to another bot', async () => {
    const { emulator } = await start({ bots: ['b1', 'b2'].map((id) => ({ id, name: id })) });
    await store(emulator, 'a.md', 'abc');
    const to = (bot: string): Record<string, string> => ({ 'x-destination-bot-id': bot });
    const file = await fileOf(ask(emulator, 'POST', pathOf('a.md', '/a.md'), {}, to('b2')));
    expect(file).toMatchObject({ botId: 'b2', owner: { type: 'bot', id: 'b2' } });
    expect(emulator.readContent('b2', 'a.md')?.toString()).toBe('abc');
    expect((await ask(emulator, 'POST', pathOf('a.md', '/a.md'), {}, to('nobody'))).status).toBe(404);
  });

  test.each([
    ['a file that is not there', 'none', {}, 404, 'ResourceNotFound'],
    ['a file without content', 'pending.md', {}, 400, 'InvalidPayload'],
    ['a file to itself', 'a.md', { overwrite: true }, 400, 'InvalidPayload'],
    ['with an unknown field', 'a.md', { more: 1 }, 400, 'InvalidPayload'],
  ])('of %s is refused', async (_, name, body, status, type) => {
    const { emulator } = await start();
    await store(emulator, 'a.md', 'abc');
    await upsert(emulator, { key: 'pending.md', size: 3 });
    const path = pathOf(name, '/a.md');
    expect(await ask(emulator, 'POST', path, body)).toMatchObject({ status, body: errorBody(status, type) });
  });

  test('counts against the quotas', async () => {
    const { emulator } = await start({ quotas: { fileStorageBytes: 6 } });
    await store(emulator, 'a.md', 'abc');
    await fileOf(ask(emulator, 'POST', pathOf('a.md', '/b.md'), {}));
    expect(await ask(emulator, 'POST', pathOf('a.md', '/c.md'), {})).toMatchObject({
      body: errorBody(403, 'QuotaExceeded'),
    });
    await emulator.conditions.set({ kind: 'late-limits' });
    expect(await fileOf(ask(emulator, 'POST', pathOf('a.md', '/c.md'), {}))).toMatchObject({
      status: 'upload_failed',
    });
    expect(readText(emulator, 'c.md')).toBeNull();
    expect((await listKeys(emulator)).toSorted()).toEqual(['a.md', 'b.md', 'c.md']);
  });
});
