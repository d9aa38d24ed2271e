import * as z from 'zod';
import { created, randomId, type OperationResult } from '../answer.ts';
import { describeConversation } from '../chat-resources.ts';
import { aboutNoFile, type Operation } from '../operation.ts';
import { readBody, readBot } from '../request-checks.ts';

const NAME_MAX_CHARACTERS = 200;

const bodySchema = z.strictObject({
  channel: z.string().min(1).max(NAME_MAX_CHARACTERS),
  tags: z.record(z.string(), z.string()),
  integrationName: z.string().max(NAME_MAX_CHARACTERS).optional(),
});

/**
 * POST /v1/chat/conversations: creates a conversation of a bot, in which the emulator's own chat user takes part, so
 * that its key may send messages to it. Source: interface.md, Create a conversation.
 */
export const createConversation: Operation = {
  name: 'create-conversation',
  method: 'POST',
  pattern: '/v1/chat/conversations',
  surface: 'api',
  identify: aboutNoFile,

  async answer(request, platform): Promise<OperationResult> {
    const caller = readBot(request, platform);
    if (caller.kind === 'refused') return caller.answer;
    const body = await readBody(request, platform, bodySchema);
    if (body.kind === 'refused') return body.answer;
    const now = platform.now();
    const conversation = {
      id: `conv_${randomId()}`,
      botId: caller.bot.id,
      channel: body.value.channel,
      integration:
        body.value.integrationName ??
        request.header('x-integration-alias') ??
        request.header('x-integration-id') ??
        'chat',
      tags: body.value.tags,
      createdAt: now,
      updatedAt: now,
    };
    platform.conversations.add(conversation);
    platform.conversations.join(conversation.id, platform.users.defaultUserId);
    return created({ conversation: describeConversation({ ...conversation, messageCount: 0 }) });
  },
};
