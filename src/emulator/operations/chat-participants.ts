import { z } from 'zod';
import { created, refuse, succeed, type Answer, type Refused } from '../answer.ts';
import { findJoinedConversation } from '../chat-access.ts';
import { describeUser } from '../chat-resources.ts';
import { aboutNoFile, type Operation } from '../operation.ts';
import { describeMeta, readPageRequest } from '../paging.ts';
import type { Platform } from '../platform.ts';
import { readBody, readUser } from '../request-checks.ts';
import type { EmulatorRequest } from '../request.ts';

const LIST_PATTERN = '/chat/:webhookId/conversations/:conversationId/participants';
const ONE_PATTERN = `${LIST_PATTERN}/:userId`;

/** POST …/conversations/{id}/participants: a participant takes another user in. Source: the official chat client. */
export const addParticipant: Operation = {
  name: 'chat-add-participant',
  method: 'POST',
  pattern: LIST_PATTERN,
  surface: 'chat',
  identify: aboutNoFile,

  async answer(request, platform): Promise<Answer> {
    const access = readConversation(request, platform);
    if (access.kind === 'refused') return access.answer;
    const body = await readBody(request, platform, z.strictObject({ userId: z.string() }));
    if (body.kind === 'refused') return body.answer;
    const { userId } = body.value;
    const user = platform.users.findById(userId);
    if (user === null) return refuse(404, 'ResourceNotFound', `There is no user "${userId}"`);
    platform.conversations.join(access.id, userId);
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

  answer(request, platform): Answer {
    const access = readConversation(request, platform);
    if (access.kind === 'refused') return access.answer;
    const asked = readPageRequest(new URLSearchParams(request.query), platform.settings.pageSize);
    if (asked.kind === 'refused') return asked.answer;
    const page = platform.users.listParticipants(access.id, asked);
    return succeed({ participants: page.items.map(describeUser), meta: describeMeta(page) });
  },
};

/** GET …/conversations/{id}/participants/{userId}. Source: the official chat client. */
export const getParticipant: Operation = {
  name: 'chat-get-participant',
  method: 'GET',
  pattern: ONE_PATTERN,
  surface: 'chat',
  identify: aboutNoFile,

  answer(request, platform): Answer {
    const access = readConversation(request, platform);
    if (access.kind === 'refused') return access.answer;
    const { userId = '' } = request.params;
    const user = platform.users.findById(userId);
    return user === null || !platform.conversations.hasParticipant(access.id, userId)
      ? refuse(404, 'ResourceNotFound', `There is no participant "${userId}"`)
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

  answer(request, platform): Answer {
    const access = readConversation(request, platform);
    if (access.kind === 'refused') return access.answer;
    platform.conversations.leave(access.id, request.params['userId'] ?? '');
    return succeed({});
  },
};

function readConversation(
  request: EmulatorRequest,
  platform: Platform,
): Refused | { readonly kind: 'conversation'; readonly id: string } {
  const caller = readUser(request, platform);
  if (caller.kind === 'refused') return caller;
  const { conversationId: id = '' } = request.params;
  const found = findJoinedConversation(id, caller.user, platform);
  return found.kind === 'refused' ? found : { kind: 'conversation', id };
}
