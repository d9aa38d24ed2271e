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
import { copyFile } from './operations/copy-file.ts';
import { deleteFile } from './operations/delete-file.ts';
import { getContent } from './operations/get-content.ts';
import { getFile } from './operations/get-file.ts';
import { getIntegration } from './operations/get-integration.ts';
import { getUsage } from './operations/get-usage.ts';
import { followPage } from './operations/follow-page.ts';
import { listBots } from './operations/list-bots.ts';
import { listFiles } from './operations/list-files.ts';
import { listPassages } from './operations/list-passages.ts';
import { searchFiles } from './operations/search-files.ts';
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
  // Before a file of the key "search".
  searchFiles,
  getFile,
  updateFile,
  deleteFile,
  copyFile,
  listPassages,
  getUsage,
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
  followPage,
];

/** The five operations of interface.md, with what they hand out addresses for, and the page for people. */
const SPECIFIED: readonly Operation[] = [
  upsertFile,
  uploadContent,
  getContent,
  listBots,
  getIntegration,
  createConversation,
  createMessage,
  showPage,
  followPage,
];

/** What is served at a path. */
export type Route =
  | ({ readonly kind: 'operation' } & Match)
  /** Something is, but not by this method. */
  | { readonly kind: 'other-method' }
  | { readonly kind: 'nothing' };

/** Finds the operation of a method and a raw path, which is split first and decoded after. */
export type Router = (method: string, path: string) => Route;

/** Makes the router of all operations, or of those that are specified. */
export function createRouter(served: 'all' | 'specified'): Router {
  const routes = (served === 'all' ? OPERATIONS : SPECIFIED).map((operation) => ({
    operation,
    segments: operation.pattern.split('/'),
  }));
  return (method, path) => {
    const segments = path.split('/');
    let isServed = false;
    for (const { operation, segments: expected } of routes) {
      const params = matchSegments(expected, segments);
      if (params === null) continue;
      if (operation.method === method) return { kind: 'operation', operation, params };
      isServed = true;
    }
    return { kind: isServed ? 'other-method' : 'nothing' };
  };
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
