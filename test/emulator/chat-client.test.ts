import { expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { call, errorBody, start } from './fixture.ts';

type Called = ReturnType<typeof call>;

function chat(
  emulator: Emulator,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body: unknown = null,
  userKey: string | null = emulator.userKey,
): Called {
  return call(`${emulator.chatUrl}/${emulator.webhookId}${path}`, method, { 'x-user-key': userKey }, body);
}

async function newUser(emulator: Emulator, body: object = {}): Promise<{ id: string; key: string }> {
  const reply = await chat(emulator, 'POST', '/users', body, null);
  const { user, key } = reply.body as { user: { id: string }; key: string };
  return { id: user.id, key };
}

test('a user is created with a key of its own, is found by it, and survives a restart', async () => {
  const { emulator: first } = await start();
  const { status, body } = await chat(
    first,
    'POST',
    '/users',
    { id: 'ann', name: 'Ann', profile: '{}' },
    null,
  );
  expect(status).toBe(201);
  expect(body).toMatchObject({ user: { id: 'ann', name: 'Ann', profile: '{}' } });
  expect((body as { user: object }).user).not.toHaveProperty('key');
  await first.close();
  const { emulator } = await start({ dataDir: first.dataDir });
  const { key } = body as { key: string };
  for (const [method, path] of [
    ['GET', '/users/me'],
    ['POST', '/users/get-or-create'],
  ] as const) {
    const found = await chat(emulator, method, path, method === 'POST' ? {} : null, key);
    expect(found).toMatchObject({ status: 200, body: { user: (body as { user: object }).user } });
    expect((await chat(emulator, method, path, method === 'POST' ? {} : null, 'wrong')).status).toBe(401);
  }
  const again = await chat(emulator, 'POST', '/users', { id: 'ann' }, null);
  expect(again).toMatchObject({ status: 409, body: errorBody(409, 'AlreadyExists') });
  expect((await chat(emulator, 'POST', '/users', { more: 1 }, null)).status).toBe(400);
});

test('a conversation of the chat belongs to its creator and to the oldest bot', async () => {
  const { emulator } = await start({ bots: ['b1', 'b2'].map((id) => ({ id, name: id })) });
  const { key } = await newUser(emulator);
  expect((await chat(emulator, 'POST', '/conversations', { id: 'c1' }, key)).status).toBe(201);
  expect(emulator.listConversations('b1')).toMatchObject([
    { id: 'c1', channel: 'channel', integration: 'chat' },
  ]);
  expect((await chat(emulator, 'POST', '/conversations', { id: 'c1' }, key)).status).toBe(409);
  const getOrCreate = (id: string, userKey: string): Called =>
    chat(emulator, 'POST', '/conversations/get-or-create', { id }, userKey);
  expect((await getOrCreate('c1', key)).status).toBe(200);
  expect((await getOrCreate('c1', emulator.userKey)).status).toBe(403);
  expect((await getOrCreate('c2', key)).status).toBe(201);
  const { body } = await chat(emulator, 'GET', '/conversations', null, key);
  expect(body).toMatchObject({ conversations: [{ id: 'c1' }, { id: 'c2' }], meta: {} });
});
