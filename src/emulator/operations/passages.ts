import { closeSync, openSync, readSync } from 'node:fs';
import * as z from 'zod';
import { readBot, findUsableFileById } from '../access.ts';
import { refuse, succeed, type OperationResult } from '../answer.ts';
import type { Operation } from '../operation.ts';
import { answerList } from '../paging.ts';
import { statusOf, type StoredFile } from '../stored-file.ts';
import { readTags } from './files.ts';
import type { Platform } from '../platform.ts';

const isTrueOrFalse = z.enum(['true', 'false']).optional();

const searchQuery = z.strictObject({
  query: z.string().min(1),
  limit: z.coerce.number().int().min(1).max(50).default(20),
  // Accepted without effect.
  contextDepth: z.coerce.number().int().min(0).max(10).optional(),
  consolidate: isTrueOrFalse,
  includeBreadcrumb: isTrueOrFalse,
  withContext: isTrueOrFalse,
});

/**
 * GET /v1/files/search: passages of the bot's indexed files, best first. Source: platform-operations.md, Search;
 * the score and the maximum number of passages are our decision.
 */
export const searchFiles: Operation = {
  name: 'search-files',
  method: 'GET',
  pattern: '/v1/files/search',
  surface: 'api',

  answer(request, platform): OperationResult {
    const bot = readBot(request, platform);
    const { tags, rest } = readTags(request);
    const { query, limit } = request.readQuery(searchQuery, rest);
    platform.expire();
    const { items: files } = platform.files.list({
      botId: bot.id,
      integrationId: request.integrationId,
      ...{ tags, ids: null, indexed: true, sortField: 'key', sortDirection: 'asc' },
      ...{ after: null, size: Number.MAX_SAFE_INTEGER - 1 },
    });
    const found = files
      .flatMap((file) => readPassages(file, platform).map((passage) => ({ file, passage })))
      .map(({ file, passage }) => ({ ...passage, score: scoreOf(query, passage), file: describeFound(file) }))
      .filter(({ score }) => score > 0)
      .toSorted((left, right) => right.score - left.score);
    return succeed({ passages: found.slice(0, limit) });
  },
};

/** GET /v1/files/{id}/passages: the text extracted from a file. Source: platform-operations.md, Passages of a file. */
export const listPassages: Operation = {
  name: 'list-passages',
  method: 'GET',
  pattern: '/v1/files/:file/passages',
  surface: 'api',

  answer(request, platform): OperationResult {
    const limit = request.query.get('limit') ?? '1000000';
    if (!/^[1-9]\d{0,8}$/.test(limit)) refuse(400, 'InvalidQuery', 'limit: must be a number from 1');
    const file = findUsableFileById(request, platform, 'read');
    const passages = readPassages(file, platform).slice(0, Number(limit));
    return answerList(request, platform.settings.pageSize, 'passages', passages, (passage) => passage);
  },
};

function describeFound({ id, key, contentType, tags, metadata }: StoredFile): object {
  return { id, key, contentType, tags, metadata };
}

interface Passage {
  readonly id: string;
  readonly content: string;
  readonly meta: { readonly type: 'chunk'; readonly position: number };
}

/** Only the start of a file is read: search is for trials, not for measuring. */
const READ_BYTES_MAX = 1_000_000;

/**
 * Returns the paragraphs of an indexed text, or the texts between the tags of a web page. PDFs and office documents
 * have no passages here.
 */
function readPassages(file: StoredFile, platform: Platform): Passage[] {
  const { status } = statusOf(file, platform.conditions, platform.now());
  if (status !== 'indexing_completed' || !/^(text\/|application\/json)/.test(file.contentType)) return [];
  const text = readStart(platform.content.pathOf(file.uploadId)).replaceAll(/\r\n?/g, '\n');
  return text
    .split(file.contentType === 'text/html' ? /<[^>]*>/ : /\n[ \t]*\n/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((content, position) => ({
      id: `${file.id}_${position}`,
      content,
      meta: { type: 'chunk', position },
    }));
}

/** Returns the share of the query's words that the passage contains; the real platform compares meaning. */
function scoreOf(query: string, { content }: Passage): number {
  const words = wordsOf(query);
  const own = new Set(wordsOf(content));
  const shared = words.filter((word) => own.has(word)).length;
  return words.length === 0 ? 0 : Math.round((shared / words.length) * 1000) / 1000;
}

function wordsOf(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
}

function readStart(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(READ_BYTES_MAX);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, READ_BYTES_MAX, 0));
  } finally {
    closeSync(file);
  }
}
