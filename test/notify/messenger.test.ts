import { describe, expect, test } from 'vitest';
import { ok, type LookupFailure, type Outcome } from '../../src/domain/failure.ts';
import { createNotifyWorld, type NotifyWorld } from './world.ts';

const NEVER = new AbortController().signal;
const HELLO = { text: 'Hello', event: 'test', topic: null, source: null, files: null } as const;

const messageOf = (outcome: Outcome<unknown, LookupFailure>): string =>
  outcome.kind === 'ok' ? 'ok' : outcome.failure.message;
const say = async (world: NotifyWorld): Promise<string> =>
  messageOf(await world.channel().send(HELLO, NEVER));
const conversations = ({ emulator }: NotifyWorld) => emulator.listConversations('bot-1');

test('creates its conversation once', async () => {
  const world = await createNotifyWorld({ conversation: { channel: 'channel', tags: { topic: 'botsync' } } });
  expect(await world.channel().check(NEVER)).toEqual(ok(null));
  expect([await say(world), await say(world)]).toEqual(['ok', 'ok']);
  expect(conversations(world)).toMatchObject([
    { channel: 'channel', tags: { topic: 'botsync' }, integration: 'chat', messageCount: 2 },
  ]);
  expect(await world.channel().check(NEVER)).toEqual(ok({ conversation: conversations(world)[0]?.id }));
});

test('speaks as the integration of the hub', async () => {
  const integration = { name: 'webchat', version: '^0.3.0' };
  const world = await createNotifyWorld({ conversation: { channel: 'channel', integration } });
  expect(await say(world)).toBe('ok');
  expect(conversations(world)[0]?.integration).toMatch(/^intver_/u);
  await say(world);
  expect(world.emulator.counts.get('get-integration')).toBe(1);
});

describe('an integration', () => {
  test.each<[string, object, RegExp]>([
    [
      'without the channel',
      { channel: 'phone', integration: { name: 'webchat', version: '0.x' } },
      /^notify\.conversation\.channel: integration webchat 0\.3\.0 has no channel "phone"; it has "channel"$/u,
    ],
    [
      'that is not in the hub',
      { channel: 'phone', integration: { name: 'nobody' } },
      /^integration nobody latest: 404/u,
    ],
  ])('%s is an error, and nothing is created', async (_, conversation, words) => {
    const world = await createNotifyWorld({ conversation });
    expect(await say(world)).toMatch(words);
    expect(messageOf(await world.channel().check(NEVER))).toMatch(words);
    expect(conversations(world)).toEqual([]);
  });

  test('that says nothing of its channels is believed', async () => {
    const world = await createNotifyWorld({
      conversation: { channel: 'x', integration: { name: 'webchat' } },
    });
    world.emulator.faults.add({
      operation: 'get-integration',
      kind: 'body',
      body: { integration: { id: 'int_1', name: 'webchat' } },
    });
    expect(await say(world)).toBe('ok');
    expect(conversations(world)[0]?.integration).toBe('int_1');
  });
});

describe('a conversation that is not there', () => {
  const gone = { operation: 'create-message', kind: 'status', status: 404, times: 1 } as const;

  test('is created again when messages had arrived there', async () => {
    const world = await createNotifyWorld();
    await say(world);
    world.emulator.faults.add(gone);
    expect(await say(world)).toContain('404');
    expect(await say(world)).toBe('ok');
    expect(conversations(world)).toHaveLength(2);
  });

  test('is not created over and over when none ever arrived', async () => {
    const world = await createNotifyWorld();
    world.emulator.faults.add({ ...gone, times: 3 });
    for (let attempt = 0; attempt < 3; attempt++)
      expect(await say(world)).toContain('platform.chat.webhookId');
    expect(conversations(world)).toHaveLength(1);
  });
});
