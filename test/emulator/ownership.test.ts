import { describe, expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { ask, get, pathOf } from './file-client.ts';
import { errorBody, put, readText, start, store, upload, upsert } from './fixture.ts';

const BOTS = [
  { id: 'b1', name: 'One', token: 'token-of-b1' },
  { id: 'b2', name: 'Two', token: 'token-of-b2' },
];

/** The headers of a bot that acts with its own credentials. */
const AS_B1 = { authorization: 'Bearer token-of-b1' };

const USER = { 'x-user-id': 'user-1' };

async function world(): Promise<Emulator> {
  return (await start({ bots: BOTS })).emulator;
}

describe('the owner of a file', () => {
  test.each([
    ['the bot', {}, { type: 'bot', id: 'b1' }],
    ['a user', USER, { type: 'user', id: 'user-1' }],
    ['an integration', { ...USER, 'x-integration-id': 'int1' }, { type: 'integration', id: 'int1' }],
  ])('is who created it: %s', async (_, headers, owner) => {
    const emulator = await world();
    expect((await upsert(emulator, { key: 'a.md', size: 1 }, headers)).owner).toMatchObject(owner);
  });

  test('stays when another overwrites it', async () => {
    const emulator = await world();
    await store(emulator, 'a.md', 'abc', { metadata: { mark: 1 } });
    const replaced = await upsert(emulator, { key: 'a.md', size: 3 }, USER);
    await upload(replaced, 'xyz');
    expect(await get(emulator, 'a.md')).toMatchObject({ owner: { type: 'bot', id: 'b1' }, metadata: {} });
  });
});

describe('with its own credentials a bot', () => {
  test('overwrites, changes and deletes what it created itself', async () => {
    const emulator = await world();
    const { id } = await upsert(emulator, { key: 'a.md', size: 1 }, AS_B1);
    expect((await put(emulator, { key: 'a.md', size: 2 }, AS_B1)).status).toBe(200);
    expect((await ask(emulator, 'PUT', pathOf(id), { tags: { a: '1' } }, AS_B1)).status).toBe(200);
    expect((await ask(emulator, 'DELETE', pathOf(id), null, AS_B1)).status).toBe(200);
  });

  test('leaves what somebody else created, and may read it', async () => {
    const emulator = await world();
    const theirs = await upsert(emulator, { key: 'a.md', size: 3 }, USER);
    await upload(theirs, 'abc');
    const own = await store(emulator, 'own.md', 'own');
    const forbidden = { status: 403, body: errorBody(403, 'Forbidden') };
    const overwritten = await put(emulator, { key: 'a.md', size: 1 }, AS_B1);
    expect(overwritten.status).toBe(403);
    expect(await ask(emulator, 'PUT', pathOf(theirs.id), {}, AS_B1)).toMatchObject(forbidden);
    expect(await ask(emulator, 'DELETE', pathOf('a.md'), null, AS_B1)).toMatchObject(forbidden);
    const copy = pathOf(own.id, '/a.md');
    expect(await ask(emulator, 'POST', copy, { overwrite: true }, AS_B1)).toMatchObject(forbidden);
    expect((await ask(emulator, 'GET', pathOf('a.md'), null, AS_B1)).status).toBe(200);
    expect(readText(emulator, 'a.md')).toBe('abc');
    // The workspace's token is no bot's own.
    expect((await put(emulator, { key: 'a.md', size: 1 })).status).toBe(200);
  });

  test('may act as an integration, whose files are then its own', async () => {
    const emulator = await world();
    const asIntegration = { ...AS_B1, 'x-integration-id': 'int1' };
    const { id } = await upsert(emulator, { key: 'a.md', size: 1 }, asIntegration);
    expect((await put(emulator, { key: 'a.md', size: 2 }, asIntegration)).status).toBe(200);
    expect((await ask(emulator, 'PUT', pathOf(id), {}, asIntegration)).status).toBe(200);
    expect((await ask(emulator, 'PUT', pathOf(id), {}, AS_B1)).status).toBe(403);
  });

  test('is no other bot, and has no access to the administration area', async () => {
    const emulator = await world();
    const forbidden = { status: 403, body: errorBody(403, 'Forbidden') };
    expect(await ask(emulator, 'GET', '/v1/files', null, { ...AS_B1, 'x-bot-id': 'b2' })).toMatchObject(
      forbidden,
    );
    const toB2 = { ...AS_B1, 'x-destination-bot-id': 'b2' };
    await store(emulator, 'a.md', 'abc');
    expect(await ask(emulator, 'POST', pathOf('a.md', '/a.md'), {}, toB2)).toMatchObject(forbidden);
    for (const path of ['/v1/admin/bots', '/v1/admin/usages/b1?type=storage_count']) {
      const headers = { ...AS_B1, 'x-workspace-id': emulator.workspaceId };
      expect(await ask(emulator, 'GET', path, null, headers)).toMatchObject(forbidden);
    }
    expect((await ask(emulator, 'GET', '/v1/files', null, { authorization: 'Bearer x' })).status).toBe(401);
  });
});
