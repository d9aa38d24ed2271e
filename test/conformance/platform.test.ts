import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Driver, FileToStore, Got, Resource } from './driver.ts';
import { officialChat, officialClient, officialClients } from './official-driver.ts';
import { ourClient } from './own-driver.ts';
import { chooseTargets, type Target } from './target.ts';

// What is stored on a live platform goes away by itself.
const LIFETIME_MS = 15 * 60_000;

// A live platform takes its time between the last byte and the next status.
const SOON = { timeout: 20_000, interval: 50 };

const PREFIX = `botsync-conformance/${randomUUID()}`;

const cases = chooseTargets().flatMap((choice) =>
  [officialClients, ourClient].map(
    (driver) => [choice.name, driver.name, choice.open, driver.connect] as const,
  ),
);

describe.each(cases)('%s through %s', (_target, _driver, open, connect) => {
  let target: Target;
  let driver: Driver;

  beforeAll(async () => {
    target = await open();
    driver = connect(target);
  });

  afterAll(async () => {
    await driver.close();
    await target.close();
  });

  /** What a call gets with other credentials or another bot. */
  async function as<T>(change: Partial<Target>, call: (driver: Driver) => Promise<Got<T>>): Promise<Got<T>> {
    const other = connect({ ...target, ...change });
    try {
      return await call(other);
    } finally {
      await other.close();
    }
  }

  describe('1. list bots', () => {
    test('has every bot once, whatever the pages', async () => {
      const bots = valueOf(await driver.listBots());
      const ids = bots.map(({ id }) => id);
      expect(ids).toContain(target.botId);
      expect(new Set(ids).size).toBe(ids.length);
      for (const bot of bots) {
        expect(bot).toMatchObject({
          id: expect.any(String) as string,
          name: expect.any(String) as string,
          createdAt: aTimestamp(),
          updatedAt: aTimestamp(),
        });
      }
    });

    test('wants the token and the workspace', async () => {
      expect(await as({ token: 'wrong' }, (other) => other.listBots())).toEqual({ kind: 'unauthorized' });
      expect(await as({ workspaceId: 'wrong' }, (other) => other.listBots())).toEqual({
        kind: 'unauthorized',
      });
    });
  });

  describe('2. create or update a file', () => {
    async function store(name: string, more: Partial<FileToStore> = {}): Promise<Got<null>> {
      const expiresAt = new Date(Date.now() + LIFETIME_MS).toISOString();
      return driver.storeFile({ key: `${PREFIX}/${name}`, content: '', expiresAt, ...more });
    }

    async function find(name: string): Promise<Resource & { url: string }> {
      const { file } = await officialClient(target).getFile({ id: `${PREFIX}/${name}` });
      return file;
    }

    async function read(name: string): Promise<string> {
      const { url } = await find(name);
      return (await fetch(url)).text();
    }

    test('stores the content and everything that is said of it', async () => {
      const said = {
        tags: { kind: 'page', 'ä ö': 'ü' },
        metadata: { pages: 7, deep: { list: [1, null, 'x'] } },
        accessPolicies: ['integrations'],
        contentType: 'text/markdown',
      } as const;
      expect(await store('a.md', { content: '# Hello ä', ...said })).toMatchObject({ kind: 'ok' });
      expect(await find('a.md')).toMatchObject({
        id: expect.any(String) as string,
        botId: target.botId,
        key: `${PREFIX}/a.md`,
        size: 10,
        index: false,
        status: expect.stringMatching(/^upload_/) as string,
        createdAt: aTimestamp(),
        updatedAt: aTimestamp(),
        ...said,
      });
      await expect.poll(() => read('a.md'), SOON).toBe('# Hello ä');
    });

    test('replaces everything of a key that exists, and keeps its id', async () => {
      await store('twice.txt', { content: 'old', tags: { old: '1' }, metadata: { old: 1 } });
      const { id } = await find('twice.txt');
      await store('twice.txt', { content: 'new content' });
      expect(await find('twice.txt')).toMatchObject({ id, size: 11 });
      await expect.poll(() => read('twice.txt'), SOON).toBe('new content');
    });

    test.each(['empty.txt', 'ä/ö ü%2F?#&+.txt', '日本/😀.txt'])(
      'takes the key %s and no content',
      async (name) => {
        expect(await store(name)).toMatchObject({ kind: 'ok' });
        expect(await find(name)).toMatchObject({ key: `${PREFIX}/${name}`, size: 0 });
      },
    );

    test('keeps the minutes of the expiry only', async () => {
      const at = Math.floor((Date.now() + LIFETIME_MS) / 60_000) * 60_000;
      await store('expiring.txt', { expiresAt: new Date(at + 59_999).toISOString() });
      const { expiresAt } = await find('expiring.txt');
      expect(Date.parse(String(expiresAt))).toBe(at);
    });

    test.each([
      ['in the past', -60_000],
      ['more than 90 days away', 91 * 24 * 60 * 60_000],
    ])('refuses an expiry %s', async (_, offsetMs) => {
      const expiresAt = new Date(Date.now() + offsetMs).toISOString();
      expect(await store('refused.txt', { expiresAt })).toEqual({ kind: 'refused' });
    });

    test('indexes on demand', async () => {
      await store('indexed.md', { content: '# Hello', index: true });
      await expect
        .poll(() => find('indexed.md'), SOON)
        .toMatchObject({ index: true, status: expect.stringMatching(/^indexing_/) as string });
    });

    test('makes public content accessible at once', async () => {
      const stored = await store('public.txt', {
        content: 'for all',
        accessPolicies: ['public_content'],
        publicContentImmediatelyAccessible: true,
      });
      expect(stored).toMatchObject({ kind: 'ok' });
      await expect.poll(() => read('public.txt'), SOON).toBe('for all');
    });

    test('wants the token', async () => {
      const file = { key: `${PREFIX}/none.txt`, content: '' };
      expect(await as({ token: 'wrong' }, (other) => other.storeFile(file))).toEqual({
        kind: 'unauthorized',
      });
    });
  });

  describe('3. get an integration', () => {
    test('by latest, by its version, by a range', async () => {
      const latest = valueOf(await driver.getIntegration(target.integration, 'latest'));
      expect(latest).toMatchObject({
        id: expect.any(String) as string,
        name: target.integration,
        version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
        createdAt: aTimestamp(),
        channels: expect.any(Object) as object,
      });
      const version = String(latest['version']);
      for (const wanted of [version, `^${version}`, `>=${version} <=${version}`]) {
        const found = valueOf(await driver.getIntegration(target.integration, wanted));
        expect(found).toMatchObject({ id: latest['id'], version });
      }
    });

    test('says when there is none', async () => {
      const name = `no-integration-${randomUUID()}`;
      expect(await driver.getIntegration(name, 'latest')).toEqual({ kind: 'not-found' });
      expect(await driver.getIntegration(target.integration, '99999.0.0')).toEqual({ kind: 'not-found' });
    });

    test('wants the token', async () => {
      const wrong = await as({ token: 'wrong' }, (other) =>
        other.getIntegration(target.integration, 'latest'),
      );
      expect(wrong).toEqual({ kind: 'unauthorized' });
    });
  });

  describe('4. create a conversation', () => {
    test('answers the conversation', async () => {
      const conversation = valueOf(await driver.createConversation({ ...target.conversation, tags: {} }));
      expect(conversation).toMatchObject({
        id: expect.any(String) as string,
        channel: target.conversation.channel,
        tags: {},
        createdAt: aTimestamp(),
        updatedAt: aTimestamp(),
      });
    });

    test('refuses names of more than 200 characters', async () => {
      const [tags, long] = [{}, 'x'.repeat(201)];
      expect(await driver.createConversation({ channel: long, tags })).toEqual({ kind: 'refused' });
      const integrationName = long;
      expect(await driver.createConversation({ ...target.conversation, tags, integrationName })).toEqual({
        kind: 'refused',
      });
    });

    test('wants the token', async () => {
      const body = { ...target.conversation, tags: {} };
      expect(await as({ token: 'wrong' }, (other) => other.createConversation(body))).toEqual({
        kind: 'unauthorized',
      });
    });
  });

  describe('5. create a message', () => {
    beforeEach(({ skip }) => {
      if (target.chat === null) skip('no chat is configured');
    });

    /** The same chat as another user. */
    function chatAs(userKey: string): Partial<Target> {
      return { chat: { webhookId: target.chat?.webhookId ?? '', userKey } };
    }

    async function join(): Promise<string> {
      const key = { 'x-user-key': target.chat?.userKey ?? '' };
      return (await officialChat(target).createConversation(key)).conversation.id;
    }

    test.each([
      { type: 'text', text: 'Hello ä\n"you"' },
      { type: 'audio', audioUrl: 'https://example.com/a.mp3' },
    ])('$type: answers the message', async (payload) => {
      const conversationId = await join();
      expect(valueOf(await driver.createMessage({ conversationId, payload }))).toMatchObject({
        id: expect.any(String) as string,
        createdAt: aTimestamp(),
        userId: expect.any(String) as string,
        conversationId,
        payload,
      });
    });

    test("refuses a conversation that is not there or not the user's, and a payload without a type", async () => {
      const payload = { type: 'text', text: 'Hello' };
      const missing = await driver.createMessage({ conversationId: randomUUID(), payload });
      expect(missing.kind).toMatch(/^(not-found|refused)$/);
      const conversationId = await join();
      const { key: userKey } = await officialChat(target).createUser({});
      const stranger = await as(chatAs(userKey), (other) => other.createMessage({ conversationId, payload }));
      expect(stranger.kind).toMatch(/^(not-found|refused)$/);
      expect(await driver.createMessage({ conversationId, payload: { type: '' } })).toEqual({
        kind: 'refused',
      });
    });

    test('wants the user key', async () => {
      const body = { conversationId: await join(), payload: { type: 'text', text: 'Hello' } };
      expect(await as(chatAs('wrong'), (other) => other.createMessage(body))).toEqual({
        kind: 'unauthorized',
      });
    });
  });
});

function valueOf<T>(result: Got<T>): T {
  if (result.kind === 'ok') return result.value;
  throw new Error(`it was ${result.kind}`);
}

function aTimestamp(): string {
  return expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/) as string;
}
