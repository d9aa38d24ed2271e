import * as z from 'zod';
import { refuse, succeed, type OperationResult } from '../answer.ts';
import { describeIssues } from '../describe-issues.ts';
import { aboutNoFile, type Operation } from '../operation.ts';
import { readPassages } from '../passages.ts';
import { readBot } from '../request-checks.ts';
import { search, type Found } from '../search.ts';
import { readTagName, readTags } from '../tags-query.ts';

const switchSchema = z.enum(['true', 'false']).transform((text) => text === 'true');

const querySchema = z.strictObject({
  query: z.string().min(1),
  limit: z.coerce.number().int().min(1).max(50).default(20),
  contextDepth: z.coerce.number().int().min(0).max(10).default(0),
  consolidate: switchSchema.default(false),
  includeBreadcrumb: switchSchema.default(false),
  withContext: switchSchema.default(false),
});

/**
 * GET /v1/files/search: passages of the bot's indexed files. Source: platform-operations.md, Search; what a score is,
 * and how many passages are found at most, is a decision.
 */
export const searchFiles: Operation = {
  name: 'search-files',
  method: 'GET',
  pattern: '/v1/files/search',
  surface: 'api',
  identify: aboutNoFile,

  answer(request, platform): OperationResult {
    const caller = readBot(request, platform);
    if (caller.kind === 'refused') return caller.answer;
    const given = new URLSearchParams(request.query);
    const others = [...given].filter(([name]) => name !== 'tags' && readTagName(name) === null);
    const asked = querySchema.safeParse(Object.fromEntries(others));
    if (!asked.success) return refuse(400, 'InvalidQuery', describeIssues(asked.error));
    const tags = readTags(given);
    if (tags === null) return refuse(400, 'InvalidQuery', 'tags: must be an object of strings');
    platform.expire();
    const files = platform.files.listIndexed({
      botId: caller.bot.id,
      integrationId: request.header('x-integration-id') ?? '',
      tags,
    });
    const found = search(
      asked.data,
      files.map((file) => [file, readPassages(file, platform)] as const),
    );
    return succeed({ passages: found.map(describeFound) });
  },
};

function describeFound({ file, score, content, meta, context }: Found): object {
  const { contentType, tags, metadata } = file.details;
  return {
    content,
    score,
    meta,
    file: {
      id: file.id,
      key: file.key,
      contentType,
      tags,
      metadata,
      createdAt: new Date(file.createdAt).toISOString(),
      updatedAt: new Date(file.updatedAt).toISOString(),
    },
    ...(context !== null && { context }),
  };
}
