import type { Operation } from './operation.ts';
import { getIntegration, getUsage, listBots } from './operations/administration.ts';
import { CHAT_OPERATIONS, createConversation, createMessage } from './operations/chat.ts';
import { deleteFile, getFile, listFiles, updateFile, upsertFile } from './operations/files.ts';
import { getContent, uploadContent } from './operations/content.ts';
import { listPassages, searchFiles } from './operations/passages.ts';
import { followPage, openContent, showPage } from './page/operations.ts';

export interface Match {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * The five operations of interface.md, the addresses that they issue, and the page. In both lists, the most
 * frequent come first.
 */
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
  openContent,
];

const OTHERS: readonly Operation[] = [
  listFiles,
  // Must precede `getFile`: "search" could be a key.
  searchFiles,
  getFile,
  updateFile,
  deleteFile,
  listPassages,
  getUsage,
  ...CHAT_OPERATIONS,
];

export type Route =
  | ({ readonly kind: 'operation' } & Match)
  /** The path exists, but not with this method. */
  | { readonly kind: 'other-method' }
  | { readonly kind: 'nothing' };

/** Finds the operation of a method and a raw path. */
export type Router = (method: string, path: string) => Route;

export function createRouter(served: 'all' | 'specified'): Router {
  const routes = [...SPECIFIED, ...(served === 'all' ? OTHERS : [])].map((operation) => ({
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
