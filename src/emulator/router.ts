import type { Operation } from './operation.ts';
import {
  createChatConversation,
  getConversation,
  getOrCreateConversation,
  listConversations,
} from './operations/chat-conversations.ts';
import { chatHello, chatHelloSlash } from './operations/chat-hello.ts';
import { getMessage, listMessages } from './operations/chat-messages.ts';
import {
  addParticipant,
  getParticipant,
  listParticipants,
  removeParticipant,
} from './operations/chat-participants.ts';
import { createUser, getOrCreateUser, getUser } from './operations/chat-users.ts';
import { createConversation } from './operations/create-conversation.ts';
import { createMessage } from './operations/create-message.ts';
import { deleteFile } from './operations/delete-file.ts';
import { getContent } from './operations/get-content.ts';
import { getFile } from './operations/get-file.ts';
import { getIntegration } from './operations/get-integration.ts';
import { listBots } from './operations/list-bots.ts';
import { listFiles } from './operations/list-files.ts';
import { showPage } from './operations/show-page.ts';
import { updateFile } from './operations/update-file.ts';
import { uploadContent } from './operations/upload-content.ts';
import { upsertFile } from './operations/upsert-file.ts';

/** An operation and the decoded parameters of the path. */
export interface Match {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
}

/** Those that many requests are for come first. */
const OPERATIONS = [
  upsertFile,
  uploadContent,
  getContent,
  listFiles,
  getFile,
  updateFile,
  deleteFile,
  listBots,
  getIntegration,
  createConversation,
  createMessage,
  chatHello,
  chatHelloSlash,
  createUser,
  getOrCreateUser,
  getUser,
  createChatConversation,
  getOrCreateConversation,
  getConversation,
  listConversations,
  addParticipant,
  getParticipant,
  listParticipants,
  removeParticipant,
  listMessages,
  getMessage,
  showPage,
];

const ROUTES = OPERATIONS.map((operation) => ({
  operation,
  segments: operation.pattern.split('/'),
}));

/** Finds the operation of a method and a raw path, which is split first and decoded after; null when there is none. */
export function findOperation(method: string, path: string): Match | null {
  const segments = path.split('/');
  for (const route of ROUTES) {
    if (route.operation.method !== method) continue;
    const params = matchSegments(route.segments, segments);
    if (params !== null) return { operation: route.operation, params };
  }
  return null;
}

function matchSegments(
  pattern: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | null {
  if (pattern.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (expected.startsWith(':')) {
      const value = decodeSegment(segment);
      if (value === null || value === '') return null;
      params[expected.slice(1)] = value;
    } else if (segment !== expected) {
      return null;
    }
  }
  return params;
}

function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
