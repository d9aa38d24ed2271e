import { createHash } from 'node:crypto';
import { randomId } from './answer.ts';
import { Collection, type Database } from './database.ts';

/** A bot of the workspace. Source: interface.md, Bot summary. */
export interface StoredBot {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A user of the chat interface, with the digest of its key. Source: the official chat client. */
export interface ChatUser {
  readonly id: string;
  readonly name?: string | undefined;
  readonly pictureUrl?: string | undefined;
  readonly profile?: string | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly keyDigest: string;
}

/** The Conversation resource, without the fields of tasks and workflows. Source: interface.md, Conversation. */
export interface ConversationResource {
  readonly id: string;
  readonly createdAt: string;
  /** The time of the last message. */
  readonly updatedAt: string;
  readonly channel: string;
  readonly integration: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly messageCount: number;
}

/** `participants`: ids of users, in the order they joined. */
export interface StoredConversation extends Omit<ConversationResource, 'updatedAt' | 'messageCount'> {
  readonly botId: string;
  readonly participants: readonly string[];
}

/** The content of a message. Source: interface.md, Message. */
export type MessagePayload = Readonly<Record<string, unknown>> & { readonly type: string };

/** The Message resource. Source: interface.md, Message; `metadata` from the official chat client. */
export interface MessageResource {
  readonly id: string;
  readonly createdAt: string;
  readonly payload: MessagePayload;
  readonly userId: string;
  readonly conversationId: string;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The user whose key the emulator prints; a participant of every conversation that is created through the main
 * address.
 */
const DEFAULT_USER_ID = 'user_default';

export class Chat {
  readonly users: Collection<ChatUser>;
  readonly conversations: Collection<StoredConversation>;
  readonly messages: Collection<MessageResource>;
  readonly #now: () => string;

  /** `defaultKey`: the key of the default user in this run. */
  constructor(database: Database, defaultKey: string, now: () => string) {
    this.users = new Collection(database, 'user');
    this.conversations = new Collection(database, 'conversation');
    this.messages = new Collection(database, 'message');
    this.#now = now;
    this.addUser({ id: DEFAULT_USER_ID, name: 'Emulator user' }, defaultKey);
  }

  /** Adds a user, or replaces the key of an existing one. */
  addUser(profile: Pick<ChatUser, 'id' | 'name' | 'pictureUrl' | 'profile'>, key: string): ChatUser {
    const now = this.#now();
    const kept = this.users.find(profile.id) ?? { ...profile, createdAt: now, updatedAt: now };
    const user = { ...kept, keyDigest: digest(key) };
    this.users.put(user);
    return user;
  }

  userOf(key: string): ChatUser | null {
    const keyDigest = digest(key);
    return this.users.list().find((user) => user.keyDigest === keyDigest) ?? null;
  }

  /** Adds a conversation without messages; its id must be new. Without `userId` the default user is the participant. */
  addConversation(
    conversation: Omit<StoredConversation, 'createdAt' | 'participants'>,
    userId = DEFAULT_USER_ID,
  ): StoredConversation {
    const added = { ...conversation, createdAt: this.#now(), participants: [userId] };
    this.conversations.put(added);
    return added;
  }

  /** Oldest first. */
  conversationsOf(botId: string): StoredConversation[] {
    return this.conversations.list().filter((conversation) => conversation.botId === botId);
  }

  addMessage(message: Omit<MessageResource, 'id' | 'createdAt'>): MessageResource {
    const added = { id: `msg_${randomId()}`, createdAt: this.#now(), ...message };
    this.messages.put(added);
    return added;
  }

  /** Oldest first. */
  messagesOf(conversationId: string): MessageResource[] {
    return this.messages.list().filter((message) => message.conversationId === conversationId);
  }

  describe({ id, createdAt, channel, integration, tags }: StoredConversation): ConversationResource {
    const messages = this.messagesOf(id);
    const updatedAt = messages.at(-1)?.createdAt ?? createdAt;
    return { id, createdAt, updatedAt, channel, integration, tags, messageCount: messages.length };
  }
}

function digest(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
