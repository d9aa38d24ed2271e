import { botOfToken } from './access.ts';
import { refused, type Refused } from './answer.ts';
import { ownerOf } from './file-owner.ts';
import type { StoredFile } from './stored-file.ts';
import type { Platform } from './platform.ts';
import { readBot } from './request-checks.ts';
import type { EmulatorRequest } from './request.ts';

/** What a caller wants with a file. */
export type FileUse = 'read' | 'change';

/**
 * The file that the path names by its id or its key, if the caller may use it so: a bot all of its files, an
 * integration its own, and reading those with the policy `integrations`; with its own credentials a bot changes only
 * those that it created. Refused with 404, or 403 when it may only read.
 * Source: interface.md, accessPolicies; platform-facts.md, Files; platform-operations.md, What is said about a file's life.
 */
export function findUsableFile(
  request: EmulatorRequest,
  platform: Platform,
  use: FileUse,
): Refused | { readonly kind: 'file'; readonly file: StoredFile } {
  const caller = readBot(request, platform);
  if (caller.kind === 'refused') return caller;
  platform.expire();
  const file = findNamedFile(request, platform);
  const integrationId = request.header('x-integration-id') ?? '';
  const owns = file !== null && (integrationId === '' || file.integrationId === integrationId);
  const reads = owns || file?.details.accessPolicies.includes('integrations') === true;
  if (file?.botId !== caller.bot.id || !reads) {
    return refused(404, 'ResourceNotFound', `File "${request.params['file'] ?? ''}" not found`);
  }
  if (use === 'change' && !(owns && mayOverwrite(file, request, platform)))
    return refused(403, 'Forbidden', 'The file belongs to another owner');
  return { kind: 'file', file };
}

/** Whether the caller may change, replace or delete a file of its own bot. */
export function mayOverwrite(file: StoredFile, request: EmulatorRequest, platform: Platform): boolean {
  const bot = botOfToken(request, platform);
  if (bot === null) return true;
  const caller = ownerOf({ id: bot, name: '' }, request);
  const { owner } = file.details;
  return owner.type === caller.type && owner.id === caller.id;
}

/** Like `findUsableFile`, for operations whose path names a file by its id alone. */
export function findUsableFileById(
  request: EmulatorRequest,
  platform: Platform,
  use: FileUse,
): ReturnType<typeof findUsableFile> {
  const found = findUsableFile(request, platform, use);
  const name = request.params['file'] ?? '';
  return found.kind === 'file' && found.file.id !== name
    ? refused(404, 'ResourceNotFound', `File with the id "${name}" not found`)
    : found;
}

/** The file of the path parameter `file`, an id or a key of the caller's, also where another owns it. */
export function findNamedFile(request: EmulatorRequest, platform: Platform): StoredFile | null {
  const { file: name = '' } = request.params;
  const botId = request.header('x-bot-id') ?? '';
  return (
    platform.files.findById(name) ??
    platform.files.findByKey(botId, request.header('x-integration-id') ?? '', name)
  );
}
