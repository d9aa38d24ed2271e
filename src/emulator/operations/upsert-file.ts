import { randomId, refuse, succeed, type OperationResult } from '../answer.ts';
import { describeFile, uploadUrl } from '../file-resource.ts';
import { mayOverwrite } from '../file-access.ts';
import { ownerOf } from '../file-owner.ts';
import type { Operation, AddressedFile } from '../operation.ts';
import type { EmulatorBot } from '../options.ts';
import type { Platform } from '../platform.ts';
import { findExceededQuota } from '../quotas.ts';
import type { EmulatorRequest } from '../request.ts';
import { readBot, readJsonBody } from '../request-checks.ts';
import { hasContent, type StoredFile } from '../stored-file.ts';
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
    const { limits } = platform.settings;
    const checked = isLate(platform) ? { ...limits, fileBytes: Infinity, indexBytes: Infinity } : limits;
    const parsed = parseUpsertBody(json.value, checked, platform.now());
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
  if (previous !== null && !mayOverwrite(previous, request, platform)) {
    return refuse(403, 'Forbidden', 'The file belongs to another owner');
  }
  const exceeded = isLate(platform) ? null : findExceededQuota(body, previous, platform);
  if (exceeded !== null) return refuse(403, 'QuotaExceeded', `The ${exceeded} quota would be exceeded`);
  const now = platform.now();
  const kept = platform.conditions.get('new-ids') === null ? previous : null;
  const file: StoredFile = {
    id: kept?.id ?? `file_${randomId()}`,
    botId: bot.id,
    integrationId,
    key: body.key,
    uploadId: randomId(),
    sizeBytes: body.sizeBytes,
    indexed: body.indexed,
    expiresAt: body.expiresAt,
    createdAt: kept?.createdAt ?? now,
    updatedAt: now,
    uploadedAt: null,
    life: null,
    details: {
      contentType: body.contentType,
      tags: body.tags,
      metadata: body.metadata,
      accessPolicies: body.accessPolicies,
      publicImmediately: body.publicImmediately,
      indexing: body.indexing,
      indexingStack: body.indexingStack,
      owner: kept?.details.owner ?? ownerOf(bot, request),
    },
  };
  // The row first: killed in between, content without a file is left, never a file that claims content it lacks.
  platform.files.put(file, previous);
  if (previous !== null && hasContent(previous)) platform.content.remove(previous.uploadId);
  return succeed({ file: { ...describeFile(file, platform), uploadUrl: uploadUrl(file, platform) } });
}

/** Whether limits are looked at only when the content is there. */
function isLate(platform: Platform): boolean {
  return platform.conditions.get('late-limits') !== null;
}

function readKey(value: unknown): string | null {
  return typeof value === 'object' && value !== null && 'key' in value && typeof value.key === 'string'
    ? value.key
    : null;
}
