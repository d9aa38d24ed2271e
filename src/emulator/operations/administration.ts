import { refuse, succeed, type OperationResult } from '../answer.ts';
import { describeIntegration } from '../hub.ts';
import type { Operation } from '../operation.ts';
import { answerList } from '../paging.ts';

/** GET /v1/admin/bots: the bots of the workspace. Source: interface.md, List bots. */
export const listBots: Operation = {
  name: 'list-bots',
  method: 'GET',
  pattern: '/v1/admin/bots',
  surface: 'admin',

  answer(request, { bots, settings }): OperationResult {
    return answerList(request, settings.pageSize, 'bots', bots.list(), (bot) => ({
      ...bot,
      deployedAt: bot.updatedAt,
    }));
  },
};

/**
 * GET /v1/admin/hub/integrations/{name}/{version}. x-multiple-integrations has no effect, since no bot has
 * instances. Source: interface.md, Get an integration from the hub.
 */
export const getIntegration: Operation = {
  name: 'get-integration',
  method: 'GET',
  pattern: '/v1/admin/hub/integrations/:name/:version',
  surface: 'api',

  answer(request, { hub, identity }): OperationResult {
    const [name, version] = [request.param('name'), request.param('version')];
    const integration = hub.find(name, version);
    return integration === null
      ? refuse(404, 'ResourceNotFound', `Integration "${name}" not found in version "${version}"`)
      : succeed({ integration: describeIntegration(integration, identity) });
  },
};

/**
 * GET /v1/admin/usages/{workspace id or bot id}: the usage and its quota; for a bot, its share of the workspace's
 * quota. Source: platform-operations.md, Usage; the unit, bytes, is our decision.
 */
export const getUsage: Operation = {
  name: 'get-usage',
  method: 'GET',
  pattern: '/v1/admin/usages/:id',
  surface: 'admin',

  answer(request, platform): OperationResult {
    const { bots, files, identity, conditions, settings } = platform;
    const id = request.param('id');
    const isWorkspace = id === identity.workspaceId;
    if (!isWorkspace && bots.find(id) === null)
      refuse(404, 'ResourceNotFound', `No workspace or bot "${id}" found`);
    platform.expire();
    const used = files.usage(isWorkspace ? null : id);
    const { quotas, limits } = settings;
    const rateLimit = conditions.get('rate-limit')?.rateLimit ?? settings.rateLimit;
    const usages = new Map<string, readonly [value: number, quota: number]>([
      ['storage_count', [used.bytes, quotas.fileStorageBytes]],
      ['knowledgebase_vector_storage', [used.vectorBytes, quotas.vectorStorageBytes]],
      ['indexed_file_count', [used.indexedFiles, quotas.indexedFiles]],
      ['file_max_size_bytes', [used.largestBytes, limits.fileBytes]],
      ['workspace_ratelimit', [0, rateLimit?.requests ?? Infinity]],
    ]);
    const type = request.query.get('type') ?? '';
    const known = [...usages.keys()].join(', ');
    const [value, quota] =
      usages.get(type) ?? refuse(400, 'InvalidQuery', `type: this emulator knows ${known}`);
    const period = platform.timestamp().replace(/-\d\dT.*$/, '-01T00:00:00.000Z');
    return succeed({ usage: { id, period, value, quota: Math.min(quota, Number.MAX_SAFE_INTEGER), type } });
  },
};
