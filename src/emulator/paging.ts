import { refused, type Refused } from './answer.ts';

/** Which part of a list is asked for. */
export interface PageRequest {
  readonly kind: 'page';
  /** What the list ended with on the page before; null for the first page. */
  readonly after: string | null;
  readonly size: number;
}

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Where the next page begins, null on the last one. */
  readonly after: string | null;
}

/** Largest `pageSize` of a request; a larger one gets as many. Source: platform-operations.md, Unknown. */
const PAGE_SIZE_MAX = 100;

/**
 * Reads `nextToken` and `pageSize` of a query; refused with 400 InvalidQuery when they make no sense.
 * `size`: items a page when the query does not say. `form`: what positions in this list look like.
 */
export function readPageRequest(
  query: URLSearchParams,
  size: number,
  form: RegExp = /^\d{1,15}$/,
): Refused | PageRequest {
  const wanted = query.get('pageSize');
  if (wanted !== null && !(/^\d{1,9}$/.test(wanted) && Number(wanted) >= 1)) {
    return refused(400, 'InvalidQuery', 'pageSize: must be a number from 1');
  }
  const token = query.get('nextToken');
  const after = token === null ? null : decodeToken(token);
  if (token !== null && (after === null || !form.test(after))) {
    return refused(400, 'InvalidQuery', 'nextToken: was not issued by this list');
  }
  return { kind: 'page', after, size: wanted === null ? size : Math.min(Number(wanted), PAGE_SIZE_MAX) };
}

/** The `meta` object of a list answer. Source: interface.md, Bot list response. */
export function describeMeta(page: Page<unknown>): { readonly nextToken?: string } {
  return page.after === null ? {} : { nextToken: encodeToken(page.after) };
}

/**
 * Makes a page of rows that were read with one more than its size, so that the end of the list is known.
 * `position`: where a row stands, in the terms of `PageRequest.after`.
 */
export function cutPage<T>(rows: readonly T[], size: number, position: (row: T) => string): Page<T> {
  const items = rows.slice(0, size);
  const last = items.at(-1);
  return { items, after: rows.length > size && last !== undefined ? position(last) : null };
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
