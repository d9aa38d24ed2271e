import { refuse, type Surface } from './answer.ts';
import type { ChatUser, StoredBot } from './chat.ts';
import type { Platform } from './platform.ts';
import type { EmulatorRequest } from './request.ts';
import { isSameSecret } from './signed-address.ts';
import type { StoredFile, FileOwner } from './stored-file.ts';

/** Checks the credentials that a surface requires. Source: interface.md, Authentication. */
export function checkAccess(surface: Surface, request: EmulatorRequest, platform: Platform): void {
  const { token, workspaceId, webhookId } = platform.identity;
  if (surface === 'chat' && request.param('webhookId') !== webhookId)
    refuse(404, 'ResourceNotFound', 'Webhook not found');
  if (surface !== 'api' && surface !== 'admin') return;
  const given = /^Bearer +(.+)$/i.exec(request.header('authorization') ?? '')?.[1] ?? '';
  if (!isSameSecret(token, given)) refuse(401, 'Unauthorized', 'The access token is missing or invalid');
  if (surface === 'admin' && request.header('x-workspace-id') === null)
    refuse(401, 'Unauthorized', 'The header x-workspace-id is missing');
  // Where the header is optional, a wrong one is refused all the same.
  if ((request.headers['x-workspace-id'] ?? workspaceId) !== workspaceId)
    refuse(401, 'Unauthorized', 'The workspace id is invalid');
}

/** Returns the bot that x-bot-id names; refuses with 400 without the header, 404 if the bot does not exist. */
export function readBot(request: EmulatorRequest, platform: Platform): StoredBot {
  const botId = request.header('x-bot-id') ?? refuse(400, 'InvalidPayload', 'The header x-bot-id is missing');
  return platform.bots.find(botId) ?? refuse(404, 'ResourceNotFound', `Bot "${botId}" not found`);
}

/** Returns the chat user of the x-user-key; refuses with 401. Source: interface.md, Authentication. */
export function readUser(request: EmulatorRequest, platform: Platform): ChatUser {
  const key = request.header('x-user-key');
  const user = key === null ? null : platform.chat.userOf(key);
  return user ?? refuse(401, 'Unauthorized', 'The user key is missing or invalid');
}

export type FileUse = 'read' | 'change';

/**
 * Returns the file that the path names by its id or key, if the caller may use it: a bot all of its files, an
 * integration its own, and for reading those with the policy `integrations`. Refuses with 404, or 403 if the caller
 * may only read. Source: interface.md, accessPolicies; platform-facts.md, Files.
 */
export function findUsableFile(request: EmulatorRequest, platform: Platform, use: FileUse): StoredFile {
  const bot = readBot(request, platform);
  platform.expire();
  const file = findNamedFile(request, platform);
  const { integrationId } = request;
  const owns = integrationId === '' || file?.integrationId === integrationId;
  if (file?.botId !== bot.id || !(owns || file.accessPolicies.includes('integrations')))
    return refuse(404, 'ResourceNotFound', `File "${request.param('file')}" not found`);
  return use === 'read' || owns ? file : refuse(403, 'Forbidden', 'The file belongs to another owner');
}

/** Like `findUsableFile`, for operations whose path names a file by its id alone. */
export function findUsableFileById(request: EmulatorRequest, platform: Platform, use: FileUse): StoredFile {
  const file = findUsableFile(request, platform, use);
  return file.id === request.param('file')
    ? file
    : refuse(404, 'ResourceNotFound', `File with the id "${request.param('file')}" not found`);
}

/** Returns the file that the path names by its upload id, its id or a key of the caller's, whoever owns it. */
export function findNamedFile(request: EmulatorRequest, { files }: Platform): StoredFile | null {
  const { uploadId, file: name } = request.params;
  if (uploadId !== undefined) return files.findByUploadId(uploadId);
  if (name === undefined) return null;
  const { integrationId } = request;
  return files.findById(name) ?? files.findByKey(request.header('x-bot-id') ?? '', integrationId, name);
}

/** Returns the owner of a file that this request creates. Sources: interface.md, File; platform-operations.md. */
export function ownerOf(bot: StoredBot, request: EmulatorRequest): FileOwner {
  const integrationId = request.header('x-integration-id');
  const userId = request.header('x-user-id');
  if (integrationId !== null) {
    return {
      type: 'integration',
      id: integrationId,
      name: request.header('x-integration-name') ?? '',
      alias: request.header('x-integration-alias') ?? '',
    };
  }
  if (userId !== null) return { type: 'user', id: userId, name: '', alias: '' };
  return { type: 'bot', id: bot.id, name: bot.name, alias: '' };
}
