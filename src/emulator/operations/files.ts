import { extname } from 'node:path/posix';
import * as z from 'zod';
import mime from 'mime-types';
import { ownerOf, readBot, findUsableFile, findUsableFileById } from '../access.ts';
import { randomId, refuse, succeed, type OperationResult } from '../answer.ts';
import { hasContent, indexingLife, type FileLife, type StoredFile } from '../stored-file.ts';
import { describeFile, uploadUrl } from '../file-resource.ts';
import { SORT_FIELDS } from '../file-table.ts';
import type { Operation } from '../operation.ts';
import { answerPage, readPageRequest, refuseToken } from '../paging.ts';
import { parseJson, type EmulatorRequest } from '../request.ts';
import type { Platform } from '../platform.ts';
import { findExcess } from '../quotas.ts';

const IDS_MAX = 50;

const listQuery = z.strictObject({
  nextToken: z.string().optional(),
  pageSize: z.string().optional(),
  sortField: z.enum(SORT_FIELDS).default('createdAt'),
  sortDirection: z.enum(['asc', 'desc']).default('desc'),
  indexed: z.enum(['true', 'false']).optional(),
});

/** GET /v1/files: the files of a bot, filtered and sorted. Source: platform-facts.md, Files. */
export const listFiles: Operation = {
  name: 'list-files',
  method: 'GET',
  pattern: '/v1/files',
  surface: 'api',

  answer(request, platform): OperationResult {
    const bot = readBot(request, platform);
    const { tags, rest } = readTags(request);
    const asked = request.readQuery(
      listQuery,
      rest.filter(([name]) => name !== 'ids'),
    );
    const { sortField, sortDirection, indexed } = asked;
    const ids = request.query.getAll('ids');
    if (ids.length > IDS_MAX) refuse(400, 'InvalidQuery', `ids: at most ${IDS_MAX}`);
    const { after, size } = readPageRequest(request, platform.settings.pageSize);
    platform.expire();
    const page = platform.files.list({
      botId: bot.id,
      integrationId: request.integrationId,
      ...{ tags, sortField, sortDirection, size },
      ids: ids.length === 0 ? null : ids,
      indexed: indexed === undefined ? null : indexed === 'true',
      after: after === null ? null : readPosition(after, sortField, sortDirection),
    });
    return answerPage('files', page, (file) => describeFile(file, platform));
  },
};

/** GET /v1/files/{id or key}. Source: platform-operations.md. */
export const getFile: Operation = {
  name: 'get-file',
  method: 'GET',
  pattern: '/v1/files/:file',
  surface: 'api',

  answer(request, platform): OperationResult {
    return succeed({ file: describeFile(findUsableFile(request, platform, 'read'), platform) });
  },
};

/** PUT /v1/files/{id}: changes a file without its content. Source: platform-operations.md; the official client. */
export const updateFile: Operation = {
  name: 'update-file',
  method: 'PUT',
  pattern: '/v1/files/:file',
  surface: 'api',

  async answer(request, platform): Promise<OperationResult> {
    const { tags, metadata, accessPolicies, expiresAt } = await request.readBody(updateBody);
    const now = platform.now();
    const expiry = readExpiry(expiresAt, now);
    // Look it up after the last await, so that no other change is lost.
    const file = findUsableFileById(request, platform, 'change');
    const changed = {
      ...file,
      life: lifeAfterUpdate(file, platform),
      updatedAt: now,
      expiresAt: expiresAt === undefined ? file.expiresAt : expiry,
      tags: merge(file.tags, tags),
      metadata: merge(file.metadata, metadata),
      accessPolicies: accessPolicies ?? file.accessPolicies,
    };
    platform.files.put(changed, file);
    return succeed({ file: describeFile(changed, platform) });
  },
};

/** DELETE /v1/files/{id or key}: deletes a file and its content. Source: platform-operations.md. */
export const deleteFile: Operation = {
  name: 'delete-file',
  method: 'DELETE',
  pattern: '/v1/files/:file',
  surface: 'api',

  answer(request, platform): OperationResult {
    platform.remove(findUsableFile(request, platform, 'change'));
    return succeed({});
  },
};

/** Separates the tags of a query (`tags.k=v`) from its other parameters; refuses with 400 InvalidQuery. */
export function readTags({ query }: EmulatorRequest): {
  readonly tags: Readonly<Record<string, string>>;
  readonly rest: readonly [string, string][];
} {
  const isTag = ([name]: [string, string]): boolean => /^tags\../s.test(name);
  const tags = [...query].filter(isTag).map(([name, value]) => [name.slice('tags.'.length), value] as const);
  if (new Set(tags.map(([tag]) => tag)).size < tags.length)
    refuse(400, 'InvalidQuery', 'tags: each may be given once');
  return { tags: Object.fromEntries(tags), rest: [...query].filter((one) => !isTag(one)) };
}

/** Parses the position in a page token; refuses a token of a list with another order. */
function readPosition(
  text: string,
  sortField: string,
  sortDirection: string,
): readonly [value: string | number, id: string] {
  const order = [z.literal(sortField), z.literal(sortDirection)] as const;
  const parsed = z
    .tuple([...order, z.union([z.string(), z.number()]), z.string()])
    .safeParse(parseJson(text));
  if (!parsed.success) return refuseToken();
  const [, , value, id] = parsed.data;
  return [value, id];
}

/** The platform does not document whether an update indexes the file again; here it does so only under a condition. */
function lifeAfterUpdate(file: StoredFile, platform: Platform): FileLife | null {
  const { life } = file;
  const { settings, conditions } = platform;
  if (life === null || conditions.get('updates-reindex') === null) return life;
  return { ...life, ...indexingLife(file, settings, conditions, Math.max(life.noticedAt, platform.now())) };
}

function merge<T>(
  present: Readonly<Record<string, T>>,
  changes: Readonly<Record<string, T | null>>,
): Readonly<Record<string, T>> {
  const merged = Object.entries({ ...present, ...changes });
  return Object.fromEntries(merged.filter((entry): entry is [string, T & {}] => entry[1] !== null));
}

const MINUTE_MS = 60_000;
const LIFETIME_MAX_MS = 90 * 24 * 60 * MINUTE_MS;

/** The value of a tag. Source: platform-facts.md, Files. */
const tagValue = z.string().max(1000);
const accessPolicies = z.array(z.enum(['public_content', 'integrations']));
const section = z.record(z.string(), z.unknown()).optional();

/** The body of an upsert. Source: interface.md, Create or update a file. */
const upsertBody = z.strictObject({
  key: z.string().min(1),
  size: z.number().int().nonnegative(),
  tags: z.record(z.string(), tagValue).default({}),
  index: z.boolean().default(false),
  indexing: z
    .strictObject({
      configuration: z.strictObject({
        parsing: section,
        chunking: section,
        summarization: section,
        stack: z.string().optional(),
        vision: section,
      }),
    })
    .optional(),
  accessPolicies: accessPolicies.default([]),
  contentType: z
    .string()
    .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'must be usable as a header value')
    .optional(),
  expiresAt: z.iso.datetime().optional(),
  publicContentImmediatelyAccessible: z.boolean().default(false),
  metadata: z.record(z.string(), z.unknown()).default({}),
});

/** The body of an update; null removes a tag, a field of the metadata or the expiry. Source: platform-operations.md. */
const updateBody = z.strictObject({
  tags: z.record(z.string(), tagValue.nullable()).default({}),
  metadata: z.record(z.string(), z.unknown()).default({}),
  accessPolicies: accessPolicies.optional(),
  expiresAt: z.iso.datetime().nullable().optional(),
});

/**
 * Returns the expiry in epoch ms at minute precision, null without one; refuses with 400 if it is not later than
 * `now` or more than 90 days away. Source: interface.md, Limits.
 */
function readExpiry(expiresAt: string | null | undefined, now: number): number | null {
  if (expiresAt === null || expiresAt === undefined) return null;
  const at = Math.floor(Date.parse(expiresAt) / MINUTE_MS) * MINUTE_MS;
  if (!(at > now))
    refuse(400, 'InvalidPayload', 'expiresAt: must be in the future (seconds and milliseconds are ignored)');
  if (at > now + LIFETIME_MAX_MS)
    refuse(400, 'InvalidPayload', 'expiresAt: must be at most 90 days from now');
  return at;
}

/**
 * PUT /v1/files: creates a file, or updates the one with this key and erases its content. Source: interface.md,
 * Create or update a file and Limits; platform-facts.md, Files.
 */
export const upsertFile: Operation = {
  name: 'upsert',
  method: 'PUT',
  pattern: '/v1/files',
  surface: 'api',

  async keyOf(request): Promise<string | null> {
    const body: unknown = await request.readJson().catch(() => null);
    return typeof body === 'object' && body !== null && 'key' in body && typeof body.key === 'string'
      ? body.key
      : null;
  },

  async answer(request, platform): Promise<OperationResult> {
    const bot = readBot(request, platform);
    const body = await request.readBody(upsertBody);
    if (body.publicContentImmediatelyAccessible && !body.accessPolicies.includes('public_content')) {
      const message = 'publicContentImmediatelyAccessible: requires public_content in accessPolicies';
      refuse(400, 'InvalidPayload', message);
    }
    const now = platform.now();
    const expiresAt = readExpiry(body.expiresAt, now);
    platform.expire();
    const { integrationId } = request;
    const previous = platform.files.findByKey(bot.id, integrationId, body.key);
    const coming = { sizeBytes: body.size, indexed: body.index };
    const isLate = platform.conditions.get('late-limits') !== null;
    const excess = isLate ? null : findExcess(coming, previous, platform);
    if (excess !== null) refuse(excess.status, excess.type, excess.message);
    const kept = platform.conditions.get('new-ids') === null ? previous : null;
    const { key, tags, metadata, accessPolicies } = body;
    const file: StoredFile = {
      id: kept?.id ?? `file_${randomId()}`,
      botId: bot.id,
      ...{ integrationId, key, tags, metadata, accessPolicies, expiresAt, ...coming },
      uploadId: randomId(),
      createdAt: kept?.createdAt ?? now,
      updatedAt: now,
      uploadedAt: null,
      life: null,
      contentType: body.contentType ?? inferContentType(key),
      publicImmediately: body.publicContentImmediatelyAccessible,
      indexingStack: body.indexing?.configuration.stack ?? 'v1',
      owner: kept?.owner ?? ownerOf(bot, request),
    };
    // The row first: a kill in between leaves content without a file, never a file without its content.
    platform.files.put(file, previous);
    if (previous !== null && hasContent(previous)) platform.content.remove(previous.uploadId);
    return succeed({ file: { ...describeFile(file, platform), uploadUrl: uploadUrl(file, platform) } });
  },
};

function inferContentType(key: string): string {
  return mime.types[extname(key).slice(1).toLowerCase()] ?? 'application/octet-stream';
}
