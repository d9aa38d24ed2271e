import { refuse, succeed, type OperationResult } from './answer.ts';
import type { EmulatorRequest } from './request.ts';

export interface PageRequest {
  /** The position of the last item of the page before; null for the first page. */
  readonly after: string | null;
  readonly size: number;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** The position of the last item; null on the last page. */
  readonly after: string | null;
}

/** Largest `pageSize`; larger ones are reduced to it. Source: platform-operations.md, Unknown. */
const PAGE_SIZE_MAX = 100;

/** Reads `nextToken` and `pageSize`; refuses with 400 InvalidQuery. `size`: the default items per page. */
export function readPageRequest({ query }: EmulatorRequest, size: number): PageRequest {
  const wanted = query.get('pageSize') ?? String(size);
  if (!/^[1-9]\d{0,8}$/.test(wanted)) refuse(400, 'InvalidQuery', 'pageSize: must be a number from 1');
  const token = query.get('nextToken');
  return {
    after: token === null ? null : (decodeToken(token) ?? refuseToken()),
    size: Math.min(Number(wanted), PAGE_SIZE_MAX),
  };
}

/** Answers with the requested page of a list; refuses with 400 InvalidQuery. `size`: the default items per page. */
export function answerList<T extends { readonly id: string }>(
  request: EmulatorRequest,
  size: number,
  name: string,
  list: readonly T[],
  describe: (item: T) => object,
): OperationResult {
  return answerPage(name, pageOf(list, readPageRequest(request, size)), describe);
}

/** Refuses a token of another list with 400 InvalidQuery. */
function pageOf<T extends { readonly id: string }>(
  list: readonly T[],
  { after, size }: PageRequest,
): Page<T> {
  const last = list.findIndex(({ id }) => id === after);
  if (after !== null && last === -1) refuseToken();
  return cutPage(list.slice(last + 1), size, ({ id }) => id);
}

/** Returns a page of rows that were read with one more than its size, which shows whether it is the last page. */
export function cutPage<T>(rows: readonly T[], size: number, position: (row: T) => string): Page<T> {
  const items = rows.slice(0, size);
  const last = items.at(-1);
  return { items, after: rows.length > size && last !== undefined ? position(last) : null };
}

/** Source: interface.md, Bot list response. */
export function answerPage<T>(name: string, page: Page<T>, describe: (item: T) => object): OperationResult {
  const meta = page.after === null ? {} : { nextToken: encodeToken(page.after) };
  return succeed({ [name]: page.items.map(describe), meta });
}

export function refuseToken(): never {
  return refuse(400, 'InvalidQuery', 'nextToken: was not issued by this list');
}

/** Not plain text, and with characters that a client must percent-encode. */
function encodeToken(position: string): string {
  return `${Buffer.from(position).toString('base64')}=+/`;
}

function decodeToken(token: string): string | null {
  if (!token.endsWith('=+/')) return null;
  const encoded = token.slice(0, -3);
  const position = Buffer.from(encoded, 'base64');
  return position.toString('base64') === encoded ? position.toString() : null;
}
