import { refuse, succeed, type OperationResult } from '../answer.ts';
import { findJoinedConversation, readJoinedConversation } from '../chat-access.ts';
import { answerChatPage } from '../chat-page.ts';
import { describeMessage } from '../chat-resources.ts';
import { aboutNoFile, type Operation } from '../operation.ts';
import type { PageRequest } from '../paging.ts';
import { readUser } from '../request-checks.ts';

/** GET …/conversations/{id}/messages, the oldest first. Source: the official chat client. */
export const listMessages: Operation = {
  name: 'chat-list-messages',
  method: 'GET',
  pattern: '/chat/:webhookId/conversations/:conversationId/messages',
  surface: 'chat',
  identify: aboutNoFile,

  answer(request, platform): OperationResult {
    const found = readJoinedConversation(request, platform);
    if (found.kind === 'refused') return found.answer;
    const { id } = found.conversation;
    const list = (asked: PageRequest) => platform.messages.listOfConversation(id, asked);
    return answerChatPage(request, platform, 'messages', list, describeMessage);
  },
};

/** GET {chat_url}/{webhookUrl}/messages/{id}. Source: the official chat client. */
export const getMessage: Operation = {
  name: 'chat-get-message',
  method: 'GET',
  pattern: '/chat/:webhookId/messages/:id',
  surface: 'chat',
  identify: aboutNoFile,

  answer(request, platform): OperationResult {
    const caller = readUser(request, platform);
    if (caller.kind === 'refused') return caller.answer;
    const { id = '' } = request.params;
    const message = platform.messages.findById(id);
    if (message === null) return refuse(404, 'ResourceNotFound', `Message "${id}" not found`);
    const found = findJoinedConversation(message.conversationId, caller.user, platform);
    return found.kind === 'refused' ? found.answer : succeed({ message: describeMessage(message) });
  },
};
