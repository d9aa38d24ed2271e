import { refused, type Refused } from './answer.ts';
import type { ChatUser } from './chat-user-table.ts';
import type { StoredConversation } from './conversation-table.ts';
import type { Platform } from './platform.ts';

/** A conversation that a chat user takes part in; refused with 404 when there is none of this id, else with 403. */
export function findJoinedConversation(
  id: string,
  user: ChatUser,
  platform: Platform,
): Refused | { readonly kind: 'conversation'; readonly conversation: StoredConversation } {
  const conversation = platform.conversations.findById(id);
  if (conversation === null) {
    return refused(404, 'ResourceNotFound', `There is no conversation "${id}"`);
  }
  if (!platform.conversations.hasParticipant(id, user.id)) {
    return refused(403, 'Forbidden', 'The user is no participant of the conversation');
  }
  return { kind: 'conversation', conversation };
}
