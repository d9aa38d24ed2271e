import { Client as ChatClient, type AuthenticatedClient } from '@botpress/chat';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { got, officialChat } from './official-driver.ts';
import { chooseTargets, type Target } from './target.ts';

// Beyond interface.md: what else the official clients ask for, as platform-facts.md has it.
describe.each(chooseTargets())('the official clients at $name', ({ open }) => {
  let target: Target;

  beforeAll(async () => {
    target = await open();
  });

  afterAll(() => target.close());

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
