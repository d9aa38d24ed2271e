import { refused, type Refused } from './answer.ts';
import type { ChatUser } from './chat-user-table.ts';
import type { StoredConversation } from './conversation-table.ts';
import type { Platform } from './platform.ts';
import { readUser } from './request-checks.ts';
import type { EmulatorRequest } from './request.ts';

/** A conversation that was looked for on behalf of a chat user, or why it is kept from it. */
export type JoinedConversation =
  Refused | { readonly kind: 'conversation'; readonly conversation: StoredConversation };

/** A conversation that a chat user takes part in; refused with 404 when there is none of this id, else with 403. */
export function findJoinedConversation(id: string, user: ChatUser, platform: Platform): JoinedConversation {
  const conversation = platform.conversations.findById(id);
  if (conversation === null) {
    return refused(404, 'ResourceNotFound', `Conversation "${id}" not found`);
  }
  if (!platform.conversations.hasParticipant(id, user.id)) {
    return refused(403, 'Forbidden', 'The user is not a participant of the conversation');
  }
  return { kind: 'conversation', conversation };
}

/**
 * The conversation that a request's path names as `:conversationId`; refused like `readUser` where the caller is not
 * known, and like `findJoinedConversation`.
 */
export function readJoinedConversation(request: EmulatorRequest, platform: Platform): JoinedConversation {
  const caller = readUser(request, platform);
  if (caller.kind === 'refused') return caller;
  return findJoinedConversation(request.params['conversationId'] ?? '', caller.user, platform);
}
