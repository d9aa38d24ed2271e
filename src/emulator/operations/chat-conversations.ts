import * as z from 'zod';
import { created, randomId, refuse, succeed, type OperationResult } from '../answer.ts';
import { findJoinedConversation, readJoinedConversation, type JoinedConversation } from '../chat-access.ts';
import { answerChatPage } from '../chat-page.ts';
import { describeChatConversation } from '../chat-resources.ts';
import type { ChatUser } from '../chat-user-table.ts';
import { aboutNoFile, type Operation } from '../operation.ts';
import type { PageRequest } from '../paging.ts';
import type { Platform } from '../platform.ts';
import { readBody, readUser } from '../request-checks.ts';

/** POST {chat_url}/{webhookUrl}/conversations: a conversation of the caller. Source: the official chat client. */
export const createChatConversation: Operation = {
  name: 'chat-create-conversation',
  method: 'POST',
  pattern: '/chat/:webhookId/conversations',
  surface: 'chat',
  identify: aboutNoFile,

  async answer(request, platform): Promise<OperationResult> {
    const caller = readUser(request, platform);
    if (caller.kind === 'refused') return caller.answer;
    const body = await readBody(request, platform, z.strictObject({ id: z.string().min(1).optional() }));
    if (body.kind === 'refused') return body.answer;
    const { id = `conv_${randomId()}` } = body.value;
    return platform.conversations.findById(id) === null
      ? create(id, caller.user, platform)
      : refuse(409, 'AlreadyExists', `Conversation "${id}" already exists`);
  },
};

/** POST {chat_url}/{webhookUrl}/conversations/get-or-create. Source: the official chat client. */
export const getOrCreateConversation: Operation = {
  name: 'chat-get-or-create-conversation',
  method: 'POST',
  pattern: '/chat/:webhookId/conversations/get-or-create',
  surface: 'chat',
  identify: aboutNoFile,

  async answer(request, platform): Promise<OperationResult> {
    const caller = readUser(request, platform);
    if (caller.kind === 'refused') return caller.answer;
    const body = await readBody(request, platform, z.strictObject({ id: z.string().min(1) }));
    if (body.kind === 'refused') return body.answer;
    const { id } = body.value;
    return platform.conversations.findById(id) === null
      ? create(id, caller.user, platform)
      : show(findJoinedConversation(id, caller.user, platform));
  },
};

/** GET {chat_url}/{webhookUrl}/conversations/{id}. Source: the official chat client. */
export const getConversation: Operation = {
  name: 'chat-get-conversation',
  method: 'GET',
  pattern: '/chat/:webhookId/conversations/:conversationId',
  surface: 'chat',
  identify: aboutNoFile,

  answer(request, platform): OperationResult {
    return show(readJoinedConversation(request, platform));
  },
};

/** GET {chat_url}/{webhookUrl}/conversations: those the caller takes part in. Source: the official chat client. */
export const listConversations: Operation = {
  name: 'chat-list-conversations',
  method: 'GET',
  pattern: '/chat/:webhookId/conversations',
  surface: 'chat',
  identify: aboutNoFile,

  answer(request, platform): OperationResult {
    const caller = readUser(request, platform);
    if (caller.kind === 'refused') return caller.answer;
    const list = (asked: PageRequest) => platform.conversations.listOfUser(caller.user.id, asked);
    return answerChatPage(request, platform, 'conversations', list, describeChatConversation);
  },
};

/** The webhook belongs to one bot: the oldest. */
function create(id: string, user: ChatUser, platform: Platform): OperationResult {
  const now = platform.now();
  const conversation = {
    id,
    botId: platform.bots.list()[0]?.id ?? '',
    channel: 'channel',
    integration: 'chat',
    tags: {},
    createdAt: now,
    updatedAt: now,
  };
  platform.conversations.add(conversation);
  platform.conversations.join(id, user.id);
  return created({ conversation: describeChatConversation({ ...conversation, messageCount: 0 }) });
}

function show(found: JoinedConversation): OperationResult {
  if (found.kind === 'refused') return found.answer;
  return succeed({ conversation: describeChatConversation(found.conversation) });
}
