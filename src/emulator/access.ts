import { refuse, type OperationResult } from './answer.ts';
import type { Surface } from './operation.ts';
import type { Platform } from './platform.ts';
import { isSameSecret } from './presign.ts';
import type { EmulatorRequest } from './request.ts';

/** What a surface demands of every request to it: the refusal, or null. Source: interface.md, Authentication. */
export function checkAccess(
  surface: Surface,
  request: EmulatorRequest,
  platform: Platform,
): OperationResult | null {
  switch (surface) {
    case 'api':
      return checkToken(request, platform) ?? checkWorkspace(request, platform);
    case 'admin':
      return (
        checkToken(request, platform) ??
        (request.header('x-workspace-id') === null
          ? refuse(401, 'Unauthorized', 'The header x-workspace-id is missing')
          : checkWorkspace(request, platform))
      );
    case 'chat':
      return request.params['webhookId'] === platform.identity.webhookId
        ? null
        : refuse(404, 'ResourceNotFound', 'There is no webhook of this id');
    case 'store':
    case 'page':
      return null;
  }
}

function checkToken(request: EmulatorRequest, platform: Platform): OperationResult | null {
  const given = /^Bearer +(.+)$/i.exec(request.header('authorization') ?? '')?.[1] ?? '';
  return isSameSecret(platform.identity.token, given)
    ? null
    : refuse(401, 'Unauthorized', 'The access token is missing or invalid');
}

/** Where the header is not asked for it may be missing, but a wrong one is never right. */
function checkWorkspace(request: EmulatorRequest, platform: Platform): OperationResult | null {
  const given = request.headers['x-workspace-id'];
  return given === undefined || given === platform.identity.workspaceId
    ? null
    : refuse(401, 'Unauthorized', 'The workspace id is invalid');
}
