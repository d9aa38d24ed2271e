import * as z from 'zod';
import { created, randomId, refuse, type OperationResult } from '../answer.ts';
import { describeMessage } from '../chat-resources.ts';
import { aboutNoFile, type Operation } from '../operation.ts';
import { readBody, readUser } from '../request-checks.ts';
import { findJoinedConversation } from '../chat-access.ts';

/** What a payload of a type must have; other types are taken as they are. Sources: interface.md, Message; platform-facts.md. */
const KNOWN_PAYLOADS = new Map<string, z.ZodType>([
  ['audio', z.object({ audioUrl: z.string() })],
  ['text', z.object({ text: z.string() })],
]);

const bodySchema = z.strictObject({
  payload: z.looseObject({ type: z.string().min(1) }).superRefine((payload, context) => {
    const parsed = KNOWN_PAYLOADS.get(payload.type)?.safeParse(payload);
    for (const issue of parsed?.error?.issues ?? []) {
      context.addIssue({ code: 'custom', path: issue.path, message: issue.message });
    }
  }),
  conversationId: z.string().min(1),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

/**
 * POST {chat_url}/{webhookUrl}/messages: a chat user says something in a conversation it takes part in.
 * Source: interface.md, Create a message; `metadata` from the official chat client.
 */
export const createMessage: Operation = {
  name: 'create-message',
  method: 'POST',
  pattern: '/chat/:webhookId/messages',
  surface: 'chat',
  identify: aboutNoFile,

  async answer(request, platform): Promise<OperationResult> {
    const caller = readUser(request, platform);
    if (caller.kind === 'refused') return caller.answer;
    const body = await readBody(request, platform, bodySchema);
    if (body.kind === 'refused') return body.answer;
    const { payload, conversationId, metadata = null } = body.value;
    const { payloadBytes } = platform.settings.limits;
    if (Buffer.byteLength(JSON.stringify(payload)) > payloadBytes) {
      return refuse(413, 'PayloadTooLarge', `payload: at most ${payloadBytes} bytes`);
    }
    const found = findJoinedConversation(conversationId, caller.user, platform);
    if (found.kind === 'refused') return found.answer;
    const message = {
      id: `msg_${randomId()}`,
      conversationId,
      userId: caller.user.id,
      payload,
      metadata,
      createdAt: platform.now(),
    };
    platform.messages.add(message);
    return created({ message: describeMessage(message) });
  },
};
