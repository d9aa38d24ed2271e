import * as z from 'zod';
import { refused, type Refused } from './answer.ts';
import { describeIssues } from './describe-issues.ts';
import { SORT_FIELDS, type FilePosition, type FileQuery } from './file-query.ts';
import { readPageRequest } from './paging.ts';
import { parseJson, readTagName, readTags } from './tags-query.ts';

const IDS_MAX = 50;

const PARAMETERS = new Set([
  'nextToken',
  'pageSize',
  'sortField',
  'sortDirection',
  'ids',
  'ids[]',
  'indexed',
  'tags',
]);

const sortSchema = z.object({
  sortField: z.enum(SORT_FIELDS).default('createdAt'),
  sortDirection: z.enum(['asc', 'desc']).default('desc'),
});

const positionSchema = z.tuple([z.string(), z.string(), z.union([z.string(), z.number()]), z.string()]);

/** What a query asks for, without who asks. */
export type ListFilesQuery = Omit<FileQuery, 'botId' | 'integrationId'>;

/**
 * Reads the query of a list of files; refused with 400 InvalidQuery. `pageSize`: files a page when it does not say.
 * Source: platform-facts.md, Files.
 */
export function readListFilesQuery(
  text: string,
  pageSize: number,
): Refused | { readonly kind: 'query'; readonly query: ListFilesQuery } {
  const given = new URLSearchParams(text);
  const unknown = [...given.keys()].find((name) => !PARAMETERS.has(name) && readTagName(name) === null);
  if (unknown !== undefined) return invalid(`${unknown}: unknown parameter`);
  const sort = sortSchema.safeParse(Object.fromEntries(given));
  if (!sort.success) return invalid(describeIssues(sort.error));
  const { sortField, sortDirection } = sort.data;
  const page = readPageRequest(given, pageSize, /./);
  if (page.kind === 'refused') return page;
  const after = page.after === null ? null : parsePosition(page.after, sortField, sortDirection);
  if (page.after !== null && after === null)
    return invalid('nextToken: belongs to a list with another sort order');
  const ids = [...given.getAll('ids'), ...given.getAll('ids[]')];
  if (ids.length > IDS_MAX) return invalid(`ids: at most ${IDS_MAX}`);
  const indexed = given.get('indexed');
  if (indexed !== null && indexed !== 'true' && indexed !== 'false')
    return invalid('indexed: must be true or false');
  const tags = readTags(given);
  if (tags === null) return invalid('tags: must be an object of strings, each tag given once');
  return {
    kind: 'query',
    query: {
      tags,
      ids: ids.length === 0 ? null : ids,
      indexed: indexed === null ? null : indexed === 'true',
      sortField,
      sortDirection,
      after,
      size: page.size,
    },
  };
}

/** A place in a list as text; it holds for a list sorted the same way. */
export function formatPosition(
  { sortField, sortDirection }: Pick<FileQuery, 'sortField' | 'sortDirection'>,
  [value, id]: FilePosition,
): string {
  return JSON.stringify([sortField, sortDirection, value, id]);
}

function parsePosition(text: string, sortField: string, sortDirection: string): FilePosition | null {
  const parsed = positionSchema.safeParse(parseJson(text));
  if (!parsed.success) return null;
  const [field, direction, value, id] = parsed.data;
  return field === sortField && direction === sortDirection ? [value, id] : null;
}

function invalid(message: string): Refused {
  return refused(400, 'InvalidQuery', message);
}
