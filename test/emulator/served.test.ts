import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { ask, pathOf } from './file-client.ts';
import { call, errorBody, send, start, store } from './fixture.ts';

const ADMIN = ['/v1/admin/bots', '/v1/admin/hub/integrations/webchat/latest'] as const;

test('specified: the five operations, what they hand out addresses for, and the page', async () => {
  const { emulator } = await start({ operations: 'specified' });
  const file = await store(emulator, 'a.md', 'abc');
  expect((await send(file.url, 'GET', {})).text).toBe('abc');
  const workspace = { 'x-workspace-id': emulator.workspaceId };
  for (const path of ADMIN) expect((await ask(emulator, 'GET', path, null, workspace)).status).toBe(200);
  const { status, body } = await ask(emulator, 'POST', '/v1/chat/conversations', { channel: 'c', tags: {} });
  expect(status).toBe(201);
  const { id } = (body as { conversation: { id: string } }).conversation;
  const message = { conversationId: id, payload: { type: 'text', text: 'Hello' } };
  const messages = `${emulator.chatUrl}/${emulator.webhookId}/messages`;
  expect((await call(messages, 'POST', { 'x-user-key': emulator.userKey }, message)).status).toBe(201);
  expect((await send(`${emulator.baseUrl}/`, 'GET', {})).status).toBe(200);
});

test.each([
  ['GET', '/v1/files', 405],
  ['GET', '/v1/files/search?query=a', 404],
  ['GET', pathOf('a.md'), 404],
  ['PUT', pathOf('a.md'), 404],
  ['DELETE', pathOf('a.md'), 404],
  ['POST', pathOf('a.md', '/b.md'), 404],
  ['GET', pathOf('a.md', '/passages'), 404],
  ['GET', '/v1/admin/usages/demo-bot?type=storage_count', 404],
] as const)('specified: %s %s is answered %i MethodNotFound', async (method, path, status) => {
  const { emulator } = await start({ operations: 'specified' });
  await store(emulator, 'a.md', 'abc');
  const headers = { 'x-workspace-id': emulator.workspaceId };
  expect(await ask(emulator, method, path, null, headers)).toMatchObject({
    status,
    body: errorBody(status, 'MethodNotFound'),
  });
  expect(emulator.counts.get('unknown')).toBe(1);
});

test.each([
  ['get-file', 'GET', (id: string) => pathOf(id)],
  ['list-files', 'GET', () => '/v1/files'],
  ['update-file', 'PUT', (id: string) => pathOf(id)],
  ['delete-file', 'DELETE', (id: string) => pathOf(id)],
  ['search-files', 'GET', () => '/v1/files/search?query=a'],
  ['list-passages', 'GET', (id: string) => pathOf(id, '/passages')],
  ['get-usage', 'GET', () => '/v1/admin/usages/demo-bot?type=storage_count'],
] as const)('a fault strikes %s, once', async (operation, method, path) => {
  const { emulator } = await start();
  const { id } = await store(emulator, 'a.md', 'abc');
  emulator.faults.add({ operation, kind: 'status', status: 404, type: 'MethodNotFound' });
  const headers = { 'x-workspace-id': emulator.workspaceId };
  const body = method === 'PUT' ? {} : null;
  expect(await ask(emulator, method, path(id), body, headers)).toMatchObject({
    body: errorBody(404, 'MethodNotFound'),
  });
  expect((await ask(emulator, method, path(id), body, headers)).status).toBe(200);
});

test('a request is answered that comes before the answer to the one before it is through', async () => {
  const { emulator } = await start();
  const contents = ['first', 'second'];
  const requests: string[] = [];
  for (const content of contents) {
    const { pathname, search, host } = new URL((await store(emulator, `${content}.md`, content)).url);
    const isLast = requests.length === contents.length - 1;
    requests.push(
      `GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nConnection: ${isLast ? 'close' : 'keep-alive'}\r\n\r\n`,
    );
  }
  const socket = connect(Number(new URL(emulator.baseUrl).port), '127.0.0.1');
  socket.setTimeout(5000, () => socket.destroy(new Error('a request is not answered')));
  socket.write(requests.join(''));
  expect(await text(socket)).toMatch(/200 OK[^]*first[^]*200 OK[^]*second/u);
});
