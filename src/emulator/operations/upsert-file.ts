import { randomId, refuse, succeed, type OperationResult } from '../answer.ts';
import { describeFile, uploadUrl } from '../file-resource.ts';
import type { FileOwner, StoredFile } from '../file-table.ts';
import type { Operation, AddressedFile } from '../operation.ts';
import type { EmulatorBot } from '../options.ts';
import type { Platform } from '../platform.ts';
import type { EmulatorRequest } from '../request.ts';
import { readBot, readJsonBody } from '../request-checks.ts';
import { parseUpsertBody, type UpsertBody } from '../upsert-body.ts';

/**
 * PUT /v1/files: creates a file or updates the one with this key, whose content is erased at once.
 * Source: interface.md, Create or update a file.
 */
export const upsertFile: Operation = {
  name: 'upsert',
  method: 'PUT',
  pattern: '/v1/files',
  surface: 'api',

  async identify(request): Promise<AddressedFile> {
    const body = await request.readJson();
    return { key: body.kind === 'json' ? readKey(body.value) : null };
  },

  async answer(request, platform): Promise<OperationResult> {
    const caller = readBot(request, platform);
    if (caller.kind === 'refused') return caller.answer;
    const json = await readJsonBody(request, platform);
    if (json.kind === 'refused') return json.answer;
    const parsed = parseUpsertBody(json.value, platform.settings.limits, platform.now());
    if (parsed.kind === 'refused') return parsed.answer;
    return upsert(caller.bot, request, parsed.body, platform);
  },
};

function upsert(
  bot: EmulatorBot,
  request: EmulatorRequest,
  body: UpsertBody,
  platform: Platform,
): OperationResult {
  platform.expire();
  const integrationId = request.header('x-integration-id') ?? '';
  const previous = platform.files.findByKey(bot.id, integrationId, body.key);
  const exceeded = findExceededQuota(body, previous, platform);
  if (exceeded !== null) return refuse(403, 'QuotaExceeded', `The ${exceeded} quota would be exceeded`);
  const now = platform.now();
  const file: StoredFile = {
    id: previous?.id ?? `file_${randomId()}`,
    botId: bot.id,
    integrationId,
    key: body.key,
    uploadId: randomId(),
    sizeBytes: body.sizeBytes,
    indexed: body.indexed,
    expiresAt: body.expiresAt,
    createdAt: previous?.createdAt ?? now,
    updatedAt: now,
    uploadedAt: null,
    details: {
      contentType: body.contentType,
      tags: body.tags,
      metadata: body.metadata,
      accessPolicies: body.accessPolicies,
      publicImmediately: body.publicImmediately,
      indexing: body.indexing,
      indexingStack: body.indexingStack,
      owner: ownerOf(bot, request),
    },
  };
  // The row first: killed in between, content without a file is left, never a file that claims content it lacks.
  platform.files.put(file, previous);
  if (previous !== null && previous.uploadedAt !== null) platform.content.remove(previous.uploadId);
  return succeed({ file: { ...describeFile(file, platform), uploadUrl: uploadUrl(file, platform) } });
}

function findExceededQuota(body: UpsertBody, previous: StoredFile | null, platform: Platform): string | null {
  const { files } = platform;
  const { quotas } = platform.settings;
  const freed = previous?.sizeBytes ?? 0;
  if (files.fileBytes - freed + body.sizeBytes > quotas.fileStorageBytes) return 'File Storage';
  if (!body.indexed) return null;
  const vectorFreed = previous?.indexed === true ? freed : 0;
  return files.vectorBytes - vectorFreed + body.sizeBytes > quotas.vectorStorageBytes
    ? 'Vector DB Storage'
    : null;
}

function ownerOf(bot: EmulatorBot, request: EmulatorRequest): FileOwner {
  const integrationId = request.header('x-integration-id');
  if (integrationId === null) return { type: 'bot', id: bot.id, name: bot.name, alias: '' };
  return {
    type: 'integration',
    id: integrationId,
    name: request.header('x-integration-name') ?? '',
    alias: request.header('x-integration-alias') ?? '',
  };
}

function readKey(value: unknown): string | null {
  return typeof value === 'object' && value !== null && 'key' in value && typeof value.key === 'string'
    ? value.key
    : null;
}
