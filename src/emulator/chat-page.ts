import { succeed, type OperationResult } from './answer.ts';
import { describeMeta, readPageRequest, type Page, type PageRequest } from './paging.ts';
import type { Platform } from './platform.ts';
import type { EmulatorRequest } from './request.ts';

/**
 * Answers with the page of a chat list that a request asks for; refused like `readPageRequest`.
 * `name`: the field that the items stand under. Source: the official chat client.
 */
export function answerChatPage<T>(
  request: EmulatorRequest,
  platform: Platform,
  name: string,
  list: (asked: PageRequest) => Page<T>,
  describe: (item: T) => object,
): OperationResult {
  const asked = readPageRequest(new URLSearchParams(request.query), platform.settings.pageSize);
  if (asked.kind === 'refused') return asked.answer;
  const page = list(asked);
  return succeed({ [name]: page.items.map(describe), meta: describeMeta(page) });
}
