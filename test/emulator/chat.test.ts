import { describe, expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { call, errorBody, START, start, upsertHeaders } from './fixture.ts';

type Headers = Record<string, string | null>;

const CONVERSATION = { channel: 'channel', tags: { id: '7' } };

function converse(emulator: Emulator, body: unknown, headers: Headers = {}): ReturnType<typeof call> {
  const url = `${emulator.baseUrl}/v1/chat/conversations`;
  return call(url, 'POST', { ...upsertHeaders(emulator), ...headers }, body);
}

async function newConversation(emulator: Emulator): Promise<string> {
  const { body } = await converse(emulator, CONVERSATION);
  return (body as { conversation: { id: string } }).conversation.id;
}

function say(
  emulator: Emulator,
  body: unknown,
  headers: Headers = {},
  webhookId = emulator.webhookId,
): ReturnType<typeof call> {
  const url = `${emulator.chatUrl}/${webhookId}/messages`;
  return call(url, 'POST', { 'x-user-key': emulator.userKey, ...headers }, body);
}

describe('creating a conversation', () => {
  test('answers 201 with the resource', async () => {
    const { emulator } = await start();
    const at = new Date(START).toISOString();
    const { status, body } = await converse(emulator, CONVERSATION);
    expect(status).toBe(201);
    expect(body).toEqual({
      conversation: {
        id: expect.stringMatching(/^conv_/) as string,
        createdAt: at,
        updatedAt: at,
        channel: 'channel',
        integration: 'chat',
        tags: { id: '7' },
        messageCount: 0,
      },
    });
    expect([(body as { conversation: unknown }).conversation]).toEqual(
      emulator.listConversations('demo-bot'),
    );
  });

  test.each<[string, object, Headers]>([
    ['integrationName', { integrationName: 'telegram' }, { 'x-integration-alias': 'other' }],
    ['x-integration-alias', {}, { 'x-integration-alias': 'telegram', 'x-integration-id': 'int1' }],
    ['x-integration-id', {}, { 'x-integration-id': 'telegram' }],
  ])('%s names the integration', async (_, more, headers) => {
    const { emulator } = await start();
    await converse(emulator, { ...CONVERSATION, ...more }, headers);
    expect(emulator.listConversations('demo-bot')).toMatchObject([{ integration: 'telegram' }]);
  });

  test('names of 200 characters and no tags are fine', async () => {
    const { emulator } = await start();
    const name = 'ä'.repeat(200);
    expect((await converse(emulator, { channel: name, integrationName: name, tags: {} })).status).toBe(201);
  });

  test.each<[string, unknown, Headers, number, string]>([
    ['no channel', { tags: {} }, {}, 400, 'InvalidPayload'],
    ['no tags', { channel: 'c' }, {}, 400, 'InvalidPayload'],
    ['a tag that is no string', { channel: 'c', tags: { n: 1 } }, {}, 400, 'InvalidPayload'],
    ['an unknown field', { ...CONVERSATION, more: 1 }, {}, 400, 'InvalidPayload'],
  ])('%s', async (_, body, headers, status, type) => {
    const { emulator } = await start();
    expect(await converse(emulator, body, headers)).toMatchObject({ status, body: errorBody(status, type) });
    expect(emulator.listConversations('demo-bot')).toEqual([]);
  });
});

describe('creating a message', () => {
  test.each<[string, Record<string, unknown>]>([
    ['text', { type: 'text', text: 'Hello' }],
    ['audio', { type: 'audio', audioUrl: 'https://example.com/a.mp3', more: 1 }],
    ['a type nobody knows', { type: 'constructor', deep: { a: [1] } }],
  ])('%s: 201 with the resource', async (_, payload) => {
    const { emulator, clock } = await start();
    const conversationId = await newConversation(emulator);
    clock.now += 1000;
    const { status, body } = await say(emulator, { conversationId, payload });
    expect(status).toBe(201);
    const message = {
      id: expect.stringMatching(/^msg_/) as string,
      createdAt: new Date(START + 1000).toISOString(),
      payload,
      userId: 'user_default',
      conversationId,
    };
    expect(body).toEqual({ message });
    expect(emulator.listMessages(conversationId)).toEqual([message]);
    expect(emulator.listConversations('demo-bot')).toMatchObject([
      { messageCount: 1, updatedAt: message.createdAt },
    ]);
  });

  test('a payload may have 128,000 bytes', async () => {
    const { emulator } = await start();
    const conversationId = await newConversation(emulator);
    const empty = JSON.stringify({ type: 'text', text: '' }).length;
    const payload = { type: 'text', text: 'x'.repeat(128_000 - empty) };
    expect((await say(emulator, { conversationId, payload })).status).toBe(201);
    payload.text += 'x';
    expect(await say(emulator, { conversationId, payload })).toMatchObject({
      status: 413,
      body: errorBody(413, 'PayloadTooLarge'),
    });
    expect(emulator.listMessages(conversationId)).toHaveLength(1);
  });

  test.each<[string, (conversationId: string) => unknown, Headers, number, string]>([
    ['no key', (id) => hello(id), { 'x-user-key': null }, 401, 'Unauthorized'],
    ['no conversation', () => ({ payload: { type: 'text', text: '' } }), {}, 400, 'InvalidPayload'],
    ['no payload', (id) => ({ conversationId: id }), {}, 400, 'InvalidPayload'],
    ['no type', (id) => ({ conversationId: id, payload: { text: '' } }), {}, 400, 'InvalidPayload'],
    [
      'a payload that is no object',
      (id) => ({ conversationId: id, payload: 'x' }),
      {},
      400,
      'InvalidPayload',
    ],
    [
      'audio without its address',
      (id) => ({ conversationId: id, payload: { type: 'audio' } }),
      {},
      400,
      'InvalidPayload',
    ],
    ['an unknown field', (id) => ({ ...hello(id), more: 1 }), {}, 400, 'InvalidPayload'],
  ])('%s', async (_, body, headers, status, type) => {
    const { emulator } = await start();
    const conversationId = await newConversation(emulator);
    const reply = await say(emulator, body(conversationId), headers);
    expect(reply).toMatchObject({ status, body: errorBody(status, type) });
    expect(emulator.listMessages(conversationId)).toEqual([]);
  });
});

function hello(conversationId: string): { conversationId: string; payload: object } {
  return { conversationId, payload: { type: 'text', text: 'Hello' } };
}

test('conversations and messages survive a restart', async () => {
  const { emulator: first } = await start();
  const conversationId = await newConversation(first);
  await say(first, hello(conversationId));
  const before = [first.listConversations('demo-bot'), first.listMessages(conversationId)];
  await first.close();
  const { emulator: second } = await start({ dataDir: first.dataDir });
  expect([second.listConversations('demo-bot'), second.listMessages(conversationId)]).toEqual(before);
  expect((await say(second, hello(conversationId))).status).toBe(201);
});
