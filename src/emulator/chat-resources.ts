import type { ChatUser } from './chat-user-table.ts';
import type { StoredConversation } from './conversation-table.ts';
import type { MessagePayload, StoredMessage } from './message-table.ts';

/** The Conversation resource; the fields of tasks and workflows are left out, nothing runs here. Source: interface.md, Conversation. */
export interface ConversationResource {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly channel: string;
  readonly integration: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly messageCount: number;
}

/** The Message resource. Source: interface.md, Message; `metadata` from the official chat client. */
export interface MessageResource {
  readonly id: string;
  readonly createdAt: string;
  readonly payload: MessagePayload;
  readonly userId: string;
  readonly conversationId: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The Conversation resource of a stored conversation. */
export function describeConversation(conversation: StoredConversation): ConversationResource {
  return {
    id: conversation.id,
    createdAt: formatTime(conversation.createdAt),
    updatedAt: formatTime(conversation.updatedAt),
    channel: conversation.channel,
    integration: conversation.integration,
    tags: conversation.tags,
    messageCount: conversation.messageCount,
  };
}

/** The shorter Conversation of the chat interface. Source: the official chat client. */
export function describeChatConversation(conversation: StoredConversation): object {
  const { id, createdAt, updatedAt } = describeConversation(conversation);
  return { id, createdAt, updatedAt };
}

/** The Message resource of a stored message. */
export function describeMessage(message: StoredMessage): MessageResource {
  return {
    id: message.id,
    createdAt: formatTime(message.createdAt),
    payload: message.payload,
    userId: message.userId,
    conversationId: message.conversationId,
    ...(message.metadata === null ? {} : { metadata: message.metadata }),
  };
}

/** A chat user as the chat interface shows it; its key is shown once, when it is created. Source: the official chat client. */
export function describeUser(user: ChatUser): object {
  const { id, profile, createdAt, updatedAt } = user;
  return { id, ...profile, createdAt: formatTime(createdAt), updatedAt: formatTime(updatedAt) };
}

function formatTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
