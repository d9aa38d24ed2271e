import { refuse, succeed, type OperationResult } from '../answer.ts';
import { describeIntegration } from '../integration-resource.ts';
import { aboutNoFile, type Operation } from '../operation.ts';

/**
 * GET /v1/admin/hub/integrations/{name}/{version}. x-multiple-integrations may be sent and changes nothing here, where
 * no bot has instances. Source: interface.md, Get an integration from the hub.
 */
export const getIntegration: Operation = {
  name: 'get-integration',
  method: 'GET',
  pattern: '/v1/admin/hub/integrations/:name/:version',
  surface: 'api',
  identify: aboutNoFile,

  answer(request, platform): OperationResult {
    const { name = '', version = '' } = request.params;
    const integration = platform.hub.find(name, version);
    return integration === null
      ? refuse(404, 'ResourceNotFound', `Integration "${name}" not found in version "${version}"`)
      : succeed({ integration: describeIntegration(integration, platform) });
  },
};
