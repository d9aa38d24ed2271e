import type * as z from 'zod';
import { refused, type Refused } from './answer.ts';
import type { ChatUser } from './chat-user-table.ts';
import { describeIssues } from './describe-issues.ts';
import type { EmulatorBot } from './options.ts';
import type { Platform } from './platform.ts';
import type { EmulatorRequest } from './request.ts';

/** The bot that x-bot-id names; refused with 400 without the header, 404 when there is no such bot. */
export function readBot(
  request: EmulatorRequest,
  platform: Platform,
): Refused | { readonly kind: 'bot'; readonly bot: EmulatorBot } {
  const botId = request.header('x-bot-id');
  if (botId === null) return refused(400, 'InvalidPayload', 'The header x-bot-id is missing');
  const bot = platform.bots.find(botId);
  if (bot === null) return refused(404, 'ResourceNotFound', `Bot "${botId}" not found`);
  return { kind: 'bot', bot };
}

/** The chat user whose x-user-key came with the request; refused with 401. Source: interface.md, Authentication. */
export function readUser(
  request: EmulatorRequest,
  platform: Platform,
): Refused | { readonly kind: 'user'; readonly user: ChatUser } {
  const key = request.header('x-user-key');
  const user = key === null ? null : platform.users.findByKey(key);
  if (user === null) return refused(401, 'Unauthorized', 'The user key is missing or invalid');
  return { kind: 'user', user };
}

/** The JSON body, whatever is in it; refused with 415, 413 or 400. */
export async function readJsonBody(
  request: EmulatorRequest,
  platform: Platform,
): Promise<Refused | { readonly kind: 'value'; readonly value: unknown }> {
  if (!/^application\/json\s*(;|$)/i.test(request.header('content-type') ?? '')) {
    return refused(415, 'UnsupportedMediaType', 'The Content-Type must be application/json');
  }
  const json = await request.readJson();
  if (json.kind === 'too-large') {
    const message = `A JSON body is at most ${platform.settings.limits.jsonBytes} bytes`;
    return refused(413, 'PayloadTooLarge', message);
  }
  if (json.kind !== 'json') return refused(400, 'InvalidPayload', 'The body is not JSON');
  return { kind: 'value', value: json.value };
}

/** The JSON body as a schema has it; refused like `readJsonBody`, and with 400 InvalidPayload. */
export async function readBody<T>(
  request: EmulatorRequest,
  platform: Platform,
  schema: z.ZodType<T>,
): Promise<Refused | { readonly kind: 'value'; readonly value: T }> {
  const body = await readJsonBody(request, platform);
  if (body.kind === 'refused') return body;
  const parsed = schema.safeParse(body.value);
  if (!parsed.success) return refused(400, 'InvalidPayload', describeIssues(parsed.error));
  return { kind: 'value', value: parsed.data };
}
