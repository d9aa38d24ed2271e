import { refuse, succeed, type Answer } from '../answer.ts';
import { findJoinedConversation } from '../chat-access.ts';
import { describeMessage } from '../chat-resources.ts';
import { aboutNoFile, type Operation } from '../operation.ts';
import { describeMeta, readPageRequest } from '../paging.ts';
import { readUser } from '../request-checks.ts';

/** GET …/conversations/{id}/messages, the oldest first. Source: the official chat client. */
export const listMessages: Operation = {
  name: 'chat-list-messages',
  method: 'GET',
  pattern: '/chat/:webhookId/conversations/:conversationId/messages',
  surface: 'chat',
  identify: aboutNoFile,

  answer(request, platform): Answer {
    const caller = readUser(request, platform);
    if (caller.kind === 'refused') return caller.answer;
    const { conversationId = '' } = request.params;
    const found = findJoinedConversation(conversationId, caller.user, platform);
    if (found.kind === 'refused') return found.answer;
    const asked = readPageRequest(new URLSearchParams(request.query), platform.settings.pageSize);
    if (asked.kind === 'refused') return asked.answer;
    const page = platform.messages.listOfConversation(conversationId, asked);
    return succeed({ messages: page.items.map(describeMessage), meta: describeMeta(page) });
  },
};

/** GET {chat_url}/{webhookUrl}/messages/{id}. Source: the official chat client. */
export const getMessage: Operation = {
  name: 'chat-get-message',
  method: 'GET',
  pattern: '/chat/:webhookId/messages/:id',
  surface: 'chat',
  identify: aboutNoFile,

  answer(request, platform): Answer {
    const caller = readUser(request, platform);
    if (caller.kind === 'refused') return caller.answer;
    const { id = '' } = request.params;
    const message = platform.messages.findById(id);
    if (message === null) return refuse(404, 'ResourceNotFound', `There is no message "${id}"`);
    const found = findJoinedConversation(message.conversationId, caller.user, platform);
    return found.kind === 'refused' ? found.answer : succeed({ message: describeMessage(message) });
  },
};
