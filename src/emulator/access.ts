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
      return (
        checkToken(request, platform) ?? checkBot(request, platform) ?? checkWorkspace(request, platform)
      );
    case 'admin':
      return (
        checkToken(request, platform) ??
        (botOfToken(request, platform) === null
          ? null
          : refuse(403, 'Forbidden', 'A bot has no access to the administration area')) ??
        (request.header('x-workspace-id') === null
          ? refuse(401, 'Unauthorized', 'The header x-workspace-id is missing')
          : checkWorkspace(request, platform))
      );
    case 'chat':
      return request.params['webhookId'] === platform.identity.webhookId
        ? null
        : refuse(404, 'ResourceNotFound', 'Webhook not found');
    case 'store':
    case 'page':
      return null;
  }
}

/** The id of the bot whose own credentials came with the request, null when it came with others. */
export function botOfToken(request: EmulatorRequest, platform: Platform): string | null {
  const given = readToken(request);
  const bot = platform.settings.bots.find(({ token }) => token !== undefined && isSameSecret(token, given));
  return bot?.id ?? null;
}

function checkToken(request: EmulatorRequest, platform: Platform): OperationResult | null {
  return isSameSecret(platform.identity.token, readToken(request)) || botOfToken(request, platform) !== null
    ? null
    : refuse(401, 'Unauthorized', 'The access token is missing or invalid');
}

/** A bot acts for itself alone. */
function checkBot(request: EmulatorRequest, platform: Platform): OperationResult | null {
  const bot = botOfToken(request, platform);
  const named = request.header('x-bot-id');
  return bot === null || named === null || named === bot
    ? null
    : refuse(403, 'Forbidden', 'The access token is that of another bot');
}

function readToken(request: EmulatorRequest): string {
  return /^Bearer +(.+)$/i.exec(request.header('authorization') ?? '')?.[1] ?? '';
}

/** Where the header is not asked for it may be missing, but a wrong one is never right. */
function checkWorkspace(request: EmulatorRequest, platform: Platform): OperationResult | null {
  const given = request.headers['x-workspace-id'];
  return given === undefined || given === platform.identity.workspaceId
    ? null
    : refuse(401, 'Unauthorized', 'The workspace id is invalid');
}
