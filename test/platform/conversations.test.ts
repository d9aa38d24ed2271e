import { describe, expect, test } from 'vitest';
import type { Identity } from '../../src/domain/identity.ts';
import type { ConversationRequest, MessageRequest } from '../../src/domain/request-limits.ts';
import { PlatformChat, PlatformConversations } from '../../src/platform/conversations.ts';
import { closedAddress, NEVER } from './fixture.ts';
import { callerHeaders, drop, kindOf, messageOf, play, say, type Operations } from './operations-fixture.ts';

const IDENTITY: Identity = {
  integrationId: 'int-1',
  integrationAlias: 'alias',
  integrationName: 'name',
  userId: 'user-1',
  userRole: 'owner',
};

function conversations(
  { http, url, retries }: Operations,
  identity: Identity = {},
  baseUrl = url,
): PlatformConversations {
  return new PlatformConversations(http, baseUrl, { token: 'T', botId: 'bot-1', identity }, retries);
}

function chat({ http, url, retries }: Operations, userKey = 'user-key-1'): PlatformChat {
  return new PlatformChat(http, `${url}/chat`, { webhookId: 'hook/1', userKey }, retries);
}

const CONVERSATION = {
  id: 'c1',
  channel: 'channel',
  integration: 'x',
  tags: { a: 'b' },
  messageCount: 0,
  new: [1],
};
const MESSAGE = { id: 'm1', conversationId: 'c1', userId: 'u', payload: { type: 'odd', n: 1 } };
const TEXT: MessageRequest = { conversationId: 'c1', payload: { type: 'text', text: 'Grüße\n' } };

describe('creating a conversation', () => {
  test.each<[ConversationRequest, Identity, object]>([
    [{ channel: 'channel', tags: {} }, {}, {}],
    [
      { channel: 'ü', tags: { id: '1', ä: '' }, integrationName: 'webchat' },
      IDENTITY,
      { 'x-integration-id': 'int-1', 'x-integration-alias': 'alias' },
    ],
  ])('of %j is one POST with the headers that the operation lists', async (request, identity, headers) => {
    const platform = await play([say(201, { conversation: CONVERSATION })]);
    const outcome = await conversations(platform, identity).create(request, NEVER);
    expect(outcome).toEqual({ kind: 'ok', value: CONVERSATION });
    expect(platform.seen).toHaveLength(1);
    expect(platform.seen[0]).toMatchObject({ method: 'POST', url: '/v1/chat/conversations' });
    expect(platform.seen[0]?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(platform.seen[0]?.body ?? '')).toEqual(request);
    expect(callerHeaders(platform.seen[0])).toEqual({
      authorization: 'Bearer T',
      'x-bot-id': 'bot-1',
      ...headers,
    });
  });

  test.each<[string, ConversationRequest, RegExp | null]>([
    ['200 characters', { channel: 'x'.repeat(200), tags: {}, integrationName: 'y'.repeat(200) }, null],
    ['201 characters', { channel: 'x'.repeat(201), tags: {} }, /^channel has 201 characters; at most 200/u],
    ['no channel', { channel: '', tags: {} }, /^channel is empty$/u],
    [
      'a long name',
      { channel: 'x', tags: {}, integrationName: 'y'.repeat(201) },
      /^integrationName has 201/u,
    ],
    [
      'a tag that is a number',
      { channel: 'x', tags: { a: 'b', n: 1 } },
      /^tags has a value that is not a string: "n"$/u,
    ],
    [
      'a megabyte of tags',
      { channel: 'x', tags: { a: 'ü'.repeat(500_000) } },
      /^tags makes the request larger/u,
    ],
  ])('with %s', async (_, request, refusal) => {
    const platform = await play([say(201, { conversation: CONVERSATION })]);
    const outcome = await conversations(platform).create(request, NEVER);
    if (refusal === null) expect(outcome.kind).toBe('ok');
    else
      expect(outcome).toMatchObject({
        failure: { kind: 'refused', message: expect.stringMatching(refusal) as string },
      });
    expect(platform.seen).toHaveLength(refusal === null ? 1 : 0);
  });

  test.each<[string, Parameters<typeof play>[0][number], string, number]>([
    ['429', say(429, {}), 'transient', 3],
    ['500', say(500, {}), 'transient', 1],
    ['504', say(504, {}), 'transient', 1],
    ['409', say(409, {}), 'transient', 1],
    ['a lost connection', drop, 'transient', 1],
    ['a success that makes no sense', say(201, {}), 'transient', 1],
    ['401', say(401, {}), 'credentials', 1],
    ['403', say(403, {}), 'credentials', 1],
    ['404', say(404, {}), 'not-found', 1],
    ['413', say(413, {}), 'refused', 1],
  ])(
    'answered by %s is repeated only when it cannot have been carried out',
    async (_, answer, kind, requests) => {
      const platform = await play([answer]);
      const outcome = await conversations(platform).create({ channel: 'x', tags: {} }, NEVER);
      expect([kindOf(outcome), platform.seen.length]).toEqual([kind, requests]);
    },
  );

  test('is done once the platform has room again', async () => {
    const platform = await play([
      say(429, {}, { 'retry-after': '1' }),
      say(201, { conversation: CONVERSATION }),
    ]);
    expect(kindOf(await conversations(platform).create({ channel: 'x', tags: {} }, NEVER))).toBe('ok');
  });

  test('is tried again where nobody listens', async () => {
    const platform = await play([]);
    const address = await closedAddress();
    const client = conversations(platform, {}, address);
    const outcome = await client.create({ channel: 'x', tags: {} }, NEVER);
    expect(outcome).toMatchObject({ failure: { kind: 'transient', notCarriedOut: true } });
    const reason = `cannot reach ${address} (platform.baseUrl): connection refused (ECONNREFUSED)`;
    expect(platform.retried).toEqual(Array(2).fill(reason));
  });
});

describe('sending a message', () => {
  test('is one POST as the user of the chat, without a token', async () => {
    const platform = await play([say(201, { message: MESSAGE })]);
    expect(await chat(platform).send(TEXT, NEVER)).toEqual({ kind: 'ok', value: MESSAGE });
    expect(platform.seen[0]).toMatchObject({ method: 'POST', url: '/chat/hook%2F1/messages' });
    expect(JSON.parse(platform.seen[0]?.body ?? '')).toEqual(TEXT);
    expect(callerHeaders(platform.seen[0])).toEqual({ 'x-user-key': 'user-key-1' });
  });

  test.each<[string, MessageRequest, string | null]>([
    ['128,000 bytes', { conversationId: 'c', payload: { type: 'text', text: 'x'.repeat(127_975) } }, null],
    [
      'one byte more',
      { conversationId: 'c', payload: { type: 'text', text: 'x'.repeat(127_976) } },
      'payload is 128,001 bytes of JSON; at most 128,000 are taken',
    ],
    ['no type', { conversationId: 'c', payload: { text: 'x' } }, 'payload has no "type"'],
    ['a type that is no text', { conversationId: 'c', payload: { type: 7 } }, 'payload has no "type"'],
    [
      'a megabyte of conversation',
      { conversationId: 'c'.repeat(1_000_000), payload: { type: 'text' } },
      'conversationId makes the request larger than 1,000,000 bytes',
    ],
    ['no conversation', { conversationId: '', payload: { type: 'text' } }, 'conversationId is empty'],
  ])('with %s', async (_, request, refusal) => {
    const platform = await play([say(200, { message: MESSAGE })]);
    const outcome = await chat(platform).send(request, NEVER);
    expect(kindOf(outcome)).toBe(refusal === null ? 'ok' : 'refused');
    if (refusal !== null) expect(messageOf(outcome)).toContain(refusal);
    expect(platform.seen).toHaveLength(refusal === null ? 1 : 0);
  });

  test.each<[number, string, RegExp]>([
    [401, 'credentials', /^401 Odd: said; check platform\.chat\.userKey$/u],
    [403, 'refused', /^403 Odd: said; the user of platform\.chat\.userKey may not be a participant/u],
    [404, 'not-found', /^404 Odd: said; check the conversation's id and platform\.chat\.webhookId$/u],
    [400, 'refused', /^400 Odd: said$/u],
    [402, 'quota', /^402/u],
    [500, 'transient', /^500/u],
  ])('answered by %d', async (status, kind, message) => {
    const platform = await play([say(status, { type: 'Odd', message: 'said' })]);
    const outcome = await chat(platform).send(TEXT, NEVER);
    expect(kindOf(outcome)).toBe(kind);
    expect(messageOf(outcome)).toMatch(message);
    expect(platform.seen).toHaveLength(1);
  });

  test('is given up when no answer comes, and not sent twice', async () => {
    const platform = await play([() => undefined], { stallTimeoutMs: 1500 });
    const outcome = await chat(platform).send(TEXT, NEVER);
    expect(outcome).toEqual({
      kind: 'failed',
      failure: { kind: 'transient', message: 'no answer within upload.stallTimeout' },
    });
    expect(platform.seen).toHaveLength(1);
  });

  test.each([200, 400, 401, 403, 404, 429, 500])('%d never tells the key', async (status) => {
    const key = 'key/with+signs=';
    const platform = await play([say(status, { type: key, message: `${'x'.repeat(290)}${key}` })]);
    const outcome = await chat(platform, key).send(TEXT, NEVER);
    expect(JSON.stringify([outcome, platform.retried])).not.toContain('with+signs');
  });
});
