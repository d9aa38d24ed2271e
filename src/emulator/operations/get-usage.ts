import { refuse, succeed, type OperationResult } from '../answer.ts';
import { aboutNoFile, type Operation } from '../operation.ts';
import type { Platform } from '../platform.ts';

/** The types of usage that there are. Source: the official client. */
const TYPES = [
  'invocation_timeout',
  'invocation_calls',
  'storage_count',
  'bot_count',
  'knowledgebase_vector_storage',
  'workspace_ratelimit',
  'table_row_count',
  'workspace_member_count',
  'integrations_owned_count',
  'ai_spend',
  'openai_spend',
  'bing_search_spend',
  'always_alive',
  'indexed_file_count',
  'file_max_size_bytes',
] as const;

type UsageType = (typeof TYPES)[number];

/**
 * GET /v1/admin/usages/{workspace id or bot id}: how much of something is used, and how much may be. Of a bot it says
 * what the bot uses of the workspace's quota. Source: platform-operations.md, Usage; the units are a decision: bytes.
 */
export const getUsage: Operation = {
  name: 'get-usage',
  method: 'GET',
  pattern: '/v1/admin/usages/:id',
  surface: 'admin',
  identify: aboutNoFile,

  answer(request, platform): OperationResult {
    const { id = '' } = request.params;
    const isWorkspace = id === platform.identity.workspaceId;
    if (!isWorkspace && platform.bots.find(id) === null) {
      return refuse(404, 'ResourceNotFound', `No workspace or bot "${id}" found`);
    }
    const given = new URLSearchParams(request.query).get('type');
    const type = TYPES.find((one) => one === given);
    if (type === undefined) return refuse(400, 'InvalidQuery', `type: must be one of ${TYPES.join(', ')}`);
    platform.expire();
    const { value, quota } = measure(type, isWorkspace ? null : id, platform);
    const period = new Date(platform.now()).toISOString().replace(/-\d\dT.*$/, '-01T00:00:00.000Z');
    return succeed({ usage: { id, period, value, quota: Math.min(quota, Number.MAX_SAFE_INTEGER), type } });
  },
};

/** `botId`: null for the workspace. What the emulator does not count is 0. */
function measure(
  type: UsageType,
  botId: string | null,
  { files, bots, settings, conditions }: Platform,
): { readonly value: number; readonly quota: number } {
  const { bytes, vectorBytes, indexedFiles, largestBytes } = files.usage(botId);
  switch (type) {
    case 'storage_count':
      return { value: bytes, quota: settings.quotas.fileStorageBytes };
    case 'knowledgebase_vector_storage':
      return { value: vectorBytes, quota: settings.quotas.vectorStorageBytes };
    case 'indexed_file_count':
      return { value: indexedFiles, quota: settings.quotas.indexedFiles };
    case 'file_max_size_bytes':
      return { value: largestBytes, quota: settings.limits.fileBytes };
    case 'workspace_ratelimit': {
      const rateLimit = conditions.get('rate-limit')?.rateLimit ?? settings.rateLimit;
      return { value: 0, quota: rateLimit?.requests ?? Infinity };
    }
    case 'bot_count':
      return { value: bots.list().length, quota: Infinity };
    case 'ai_spend':
    case 'always_alive':
    case 'bing_search_spend':
    case 'integrations_owned_count':
    case 'invocation_calls':
    case 'invocation_timeout':
    case 'openai_spend':
    case 'table_row_count':
    case 'workspace_member_count':
      return { value: 0, quota: Infinity };
  }
}
