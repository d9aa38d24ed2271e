import type { EmulatorBot } from './options.ts';
import type { EmulatorRequest } from './request.ts';
import type { FileOwner } from './stored-file.ts';

/** Who a file that this request creates belongs to. Sources: interface.md, File; platform-operations.md. */
export function ownerOf(bot: EmulatorBot, request: EmulatorRequest): FileOwner {
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
