import * as z from 'zod';
import { created, refuse, succeed, type OperationResult } from '../answer.ts';
import { readJoinedConversation } from '../chat-access.ts';
import { answerChatPage } from '../chat-page.ts';
import { describeUser } from '../chat-resources.ts';
import { aboutNoFile, type Operation } from '../operation.ts';
import type { PageRequest } from '../paging.ts';
import { readBody } from '../request-checks.ts';

const LIST_PATTERN = '/chat/:webhookId/conversations/:conversationId/participants';
const ONE_PATTERN = `${LIST_PATTERN}/:userId`;

/** POST …/conversations/{id}/participants: a participant takes another user in. Source: the official chat client. */
export const addParticipant: Operation = {
  name: 'chat-add-participant',
  method: 'POST',
  pattern: LIST_PATTERN,
  surface: 'chat',
  identify: aboutNoFile,

  async answer(request, platform): Promise<OperationResult> {
    const found = readJoinedConversation(request, platform);
    if (found.kind === 'refused') return found.answer;
    const body = await readBody(request, platform, z.strictObject({ userId: z.string() }));
    if (body.kind === 'refused') return body.answer;
    const { userId } = body.value;
    const user = platform.users.findById(userId);
    if (user === null) return refuse(404, 'ResourceNotFound', `User "${userId}" not found`);
    platform.conversations.join(found.conversation.id, userId);
    return created({ participant: describeUser(user) });
  },
};

/** GET …/conversations/{id}/participants. Source: the official chat client. */
export const listParticipants: Operation = {
  name: 'chat-list-participants',
  method: 'GET',
  pattern: LIST_PATTERN,
  surface: 'chat',
  identify: aboutNoFile,

  answer(request, platform): OperationResult {
    const found = readJoinedConversation(request, platform);
    if (found.kind === 'refused') return found.answer;
    const { id } = found.conversation;
    const list = (asked: PageRequest) => platform.users.listParticipants(id, asked);
    return answerChatPage(request, platform, 'participants', list, describeUser);
  },
};

/** GET …/conversations/{id}/participants/{userId}. Source: the official chat client. */
export const getParticipant: Operation = {
  name: 'chat-get-participant',
  method: 'GET',
  pattern: ONE_PATTERN,
  surface: 'chat',
  identify: aboutNoFile,

  answer(request, platform): OperationResult {
    const found = readJoinedConversation(request, platform);
    if (found.kind === 'refused') return found.answer;
    const { userId = '' } = request.params;
    const user = platform.users.findById(userId);
    return user === null || !platform.conversations.hasParticipant(found.conversation.id, userId)
      ? refuse(404, 'ResourceNotFound', `Participant "${userId}" not found`)
      : succeed({ participant: describeUser(user) });
  },
};

/** DELETE …/conversations/{id}/participants/{userId}. Source: the official chat client. */
export const removeParticipant: Operation = {
  name: 'chat-remove-participant',
  method: 'DELETE',
  pattern: ONE_PATTERN,
  surface: 'chat',
  identify: aboutNoFile,

  answer(request, platform): OperationResult {
    const found = readJoinedConversation(request, platform);
    if (found.kind === 'refused') return found.answer;
    platform.conversations.leave(found.conversation.id, request.params['userId'] ?? '');
    return succeed({});
  },
};
