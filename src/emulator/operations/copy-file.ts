import * as z from 'zod';
import { randomId, refuse, refused, succeed, type OperationResult, type Refused } from '../answer.ts';
import { botOfToken } from '../access.ts';
import { findUsableFile, mayOverwrite } from '../file-access.ts';
import { beginLife } from '../file-life.ts';
import { ownerOf } from '../file-owner.ts';
import { describeFile } from '../file-resource.ts';
import type { Operation } from '../operation.ts';
import type { EmulatorBot } from '../options.ts';
import type { Platform } from '../platform.ts';
import { findExceededLimit, findExceededQuota } from '../quotas.ts';
import type { EmulatorRequest } from '../request.ts';
import { readBody } from '../request-checks.ts';
import { hasContent, type StoredFile } from '../stored-file.ts';

const bodySchema = z.strictObject({ overwrite: z.boolean().default(false) });

/**
 * POST /v1/files/{id or key}/{destination key}: a copy with everything that is known of the file but its expiry, within
 * the bot or to the bot of x-destination-bot-id. Source: platform-operations.md; what is copied is a decision.
 */
export const copyFile: Operation = {
  name: 'copy-file',
  method: 'POST',
  pattern: '/v1/files/:file/:destination',
  surface: 'api',

  identify(request) {
    return { key: request.params['destination'] ?? null };
  },

  async answer(request, platform): Promise<OperationResult> {
    const body = await readBody(request, platform, bodySchema);
    if (body.kind === 'refused') return body.answer;
    const found = findUsableFile(request, platform, 'read');
    if (found.kind === 'refused') return found.answer;
    const destination = readDestination(request, platform);
    if (destination.kind === 'refused') return destination.answer;
    return copy(found.file, destination.bot, body.value.overwrite, request, platform);
  },
};

function readDestination(
  request: EmulatorRequest,
  platform: Platform,
): Refused | { readonly kind: 'bot'; readonly bot: EmulatorBot } {
  const own = request.header('x-bot-id') ?? '';
  const id = request.header('x-destination-bot-id') ?? own;
  if (id !== own && botOfToken(request, platform) !== null) {
    return refused(403, 'Forbidden', 'The access token is that of another bot');
  }
  const bot = platform.bots.find(id);
  return bot === null ? refused(404, 'ResourceNotFound', `Bot "${id}" not found`) : { kind: 'bot', bot };
}

function copy(
  source: StoredFile,
  bot: EmulatorBot,
  overwrite: boolean,
  request: EmulatorRequest,
  platform: Platform,
): OperationResult {
  const integrationId = request.header('x-integration-id') ?? '';
  const key = request.params['destination'] ?? '';
  const previous = platform.files.findByKey(bot.id, integrationId, key);
  const refusal = whyNotCopied(source, previous, overwrite, request, platform);
  if (refusal !== null) return refusal;

  const now = platform.now();
  const begun: StoredFile = {
    ...source,
    id: previous?.id ?? `file_${randomId()}`,
    botId: bot.id,
    integrationId,
    key,
    uploadId: randomId(),
    expiresAt: null,
    createdAt: previous?.createdAt ?? now,
    updatedAt: now,
    uploadedAt: null,
    life: null,
    details: { ...source.details, owner: previous?.details.owner ?? ownerOf(bot, request) },
  };
  platform.files.put(begun, previous);
  if (previous !== null && hasContent(previous)) platform.content.remove(previous.uploadId);
  const { settings, conditions } = platform;
  const life = beginLife(begun, findExceededLimit(begun, platform), settings, conditions, now);
  if (life.uploadFailure === null) platform.content.copy(source.uploadId, begun.uploadId);
  const file = { ...begun, uploadedAt: now, life };
  platform.files.put(file, begun);
  return succeed({ file: describeFile(file, platform) });
}

function whyNotCopied(
  source: StoredFile,
  previous: StoredFile | null,
  overwrite: boolean,
  request: EmulatorRequest,
  platform: Platform,
): OperationResult | null {
  if (!hasContent(source)) return refuse(400, 'InvalidPayload', 'The file has no content to copy');
  if (previous !== null && !overwrite)
    return refuse(409, 'AlreadyExists', `A file with the key "${previous.key}" already exists`);
  if (previous !== null && !mayOverwrite(previous, request, platform))
    return refuse(403, 'Forbidden', 'The file belongs to another owner');
  if (previous?.id === source.id) return refuse(400, 'InvalidPayload', 'A file cannot be copied to itself');
  const isLate = platform.conditions.get('late-limits') !== null;
  const quota = isLate ? null : findExceededQuota(source, previous, platform);
  return quota === null ? null : refuse(403, 'QuotaExceeded', `The ${quota} quota would be exceeded`);
}
