import { randomUUID } from 'node:crypto';
import { Client as ChatClient, type AuthenticatedClient } from '@botpress/chat';
import { isApiError, type Client } from '@botpress/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { got, officialChat, officialClient } from './official-driver.ts';
import { chooseTargets, type Target } from './target.ts';

// Beyond interface.md: what else the official clients ask for, as platform-facts.md has it.
describe.each(chooseTargets())('the official clients at $name', ({ open }) => {
  let target: Target;
  let client: Client;

  beforeAll(async () => {
    target = await open();
    client = officialClient(target);
  });

  afterAll(() => target.close());

  describe('files', () => {
    const run = randomUUID();
    const key = (name: string): string => `botsync-conformance/${run}/${name}`;
    const expiresAt = new Date(Date.now() + 15 * 60_000).toISOString();

    function store(name: string, tags: Record<string, string> = {}): ReturnType<Client['uploadFile']> {
      return client.uploadFile({
        key: key(name),
        content: name,
        tags: { run, ...tags },
        expiresAt,
      });
    }

    async function listed(query: Parameters<Client['list']['files']>[0]): Promise<string[]> {
      const files = await client.list.files(query).collect();
      return files.map((file) => file.key);
    }

    test('the answer to an upsert holds the address for the content', async () => {
      const { file } = await client.upsertFile({ key: key('pending'), size: 3, expiresAt });
      expect(file).toMatchObject({ status: 'upload_pending', owner: { type: 'bot' } });
      expect(URL.canParse(file.uploadUrl)).toBe(true);
    });

    test('are listed by tags and ids, sorted, page by page', async () => {
      const stored = [];
      for (const name of ['c', 'a', 'e', 'b', 'd']) {
        stored.push(await store(name, { parity: stored.length % 2 === 0 ? 'even' : 'odd' }));
      }
      const sorted = ['a', 'b', 'c', 'd', 'e'].map(key);
      const byKey = { sortField: 'key', sortDirection: 'asc' } as const;
      expect(await listed({ tags: { run }, ...byKey })).toEqual(sorted);
      expect(await listed({ tags: { run }, sortField: 'key', sortDirection: 'desc' })).toEqual(
        sorted.toReversed(),
      );
      expect(await listed({ tags: { run, parity: 'odd' }, ...byKey })).toEqual(['a', 'b'].map(key));
      const ids = stored.slice(0, 2).map(({ file }) => file.id);
      expect(await listed({ ids, ...byKey })).toEqual(['a', 'c'].map(key));
    });

    test('are found by id and by key, changed without new content, and deleted', async () => {
      const { file } = await store('ä/ö %2F.txt', { drop: '1' });
      expect((await client.getFile({ id: file.id })).file.key).toBe(file.key);
      expect((await client.getFile({ id: file.key })).file.id).toBe(file.id);
      const changed = await client.updateFileMetadata({
        id: file.id,
        tags: { drop: null, add: '2' },
        metadata: { pages: 7 },
      });
      expect(changed.file).toMatchObject({
        tags: { run, add: '2' },
        metadata: { pages: 7 },
        size: file.size,
      });
      expect(changed.file.tags).not.toHaveProperty('drop');
      await client.deleteFile({ id: file.key });
      expect(await got(client.getFile({ id: file.id }))).toEqual({ kind: 'not-found' });
      expect(await got(client.deleteFile({ id: file.id }))).toEqual({ kind: 'not-found' });
    });

    test('errors have a code, a type and a message', async () => {
      const wrong: unknown = await officialClient({ ...target, token: 'wrong' })
        .listFiles({})
        .catch((error: unknown) => error);
      expect(isApiError(wrong) && wrong).toMatchObject({ code: 401, type: 'Unauthorized' });
      const large: unknown = await client
        .upsertFile({ key: key('large'), size: 2_000_000_000 })
        .catch((error: unknown) => error);
      expect(isApiError(large) && large.code).toBeGreaterThanOrEqual(400);
    });
  });

  describe('the chat', () => {
    let user: AuthenticatedClient;
    let stranger: AuthenticatedClient;

    beforeAll(async () => {
      if (target.chat === null) return;
      const apiUrl = `${target.chatUrl}/${target.chat.webhookId}`;
      user = await ChatClient.connect({ apiUrl, userKey: target.chat.userKey });
      stranger = await ChatClient.connect({ apiUrl });
    });

    beforeEach(({ skip }) => {
      if (target.chat === null) skip('no chat is configured');
    });

    test('a user is known by its key', async () => {
      expect((await stranger.getUser({})).user.id).toBe(stranger.user.id);
      expect(stranger.user.id).not.toBe(user.user.id);
      const wrong = officialChat(target).getUser({ 'x-user-key': 'wrong' });
      expect(await got(wrong)).toEqual({ kind: 'unauthorized' });
    });

    test("a conversation is its participants' alone", async () => {
      const { conversation } = await user.createConversation({});
      const { id } = conversation;
      expect((await user.getConversation({ id })).conversation).toEqual(conversation);
      expect((await user.getOrCreateConversation({ id })).conversation.id).toBe(id);
      expect((await got(stranger.getConversation({ id }))).kind).toMatch(/^(refused|not-found)$/);

      await user.addParticipant({ conversationId: id, userId: stranger.user.id });
      expect((await stranger.getConversation({ id })).conversation.id).toBe(id);
      const participants = await user.list.participants({ conversationId: id }).collect();
      expect(participants.map((one) => one.id).toSorted()).toEqual(
        [user.user.id, stranger.user.id].toSorted(),
      );
      const { participant } = await user.getParticipant({ conversationId: id, userId: stranger.user.id });
      expect(participant.id).toBe(stranger.user.id);

      await user.removeParticipant({ conversationId: id, userId: stranger.user.id });
      expect((await got(stranger.getConversation({ id }))).kind).toMatch(/^(refused|not-found)$/);
    });

    test('conversations and messages are listed page by page', async () => {
      const ids: string[] = [];
      for (let count = 0; count < 3; count += 1)
        ids.push((await stranger.createConversation({})).conversation.id);
      const conversations = await stranger.list.conversations({}).collect();
      expect(conversations.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));

      const [conversationId = ''] = ids;
      const texts = ['one', 'two', 'three'];
      for (const text of texts) {
        await stranger.createMessage({ conversationId, payload: { type: 'text', text }, metadata: { text } });
      }
      const messages = await stranger.list.messages({ conversationId }).collect();
      const own = messages.filter(({ userId }) => userId === stranger.user.id);
      expect(own.map(({ payload }) => (payload.type === 'text' ? payload.text : null)).toSorted()).toEqual(
        texts.toSorted(),
      );
      const [first] = own;
      expect((await stranger.getMessage({ id: first?.id ?? '' })).message).toEqual(first);
      expect((await got(user.getMessage({ id: first?.id ?? '' }))).kind).toMatch(/^(refused|not-found)$/);
    });
  });
});
