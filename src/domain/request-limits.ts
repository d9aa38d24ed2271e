import type { JsonObject, JsonValue } from './json.ts';
import { charactersOf, LARGEST_BODY_BYTES } from './limits.ts';

/** The body of a request for a conversation (interface.md, Create a conversation: Request body). */
export interface ConversationRequest {
  readonly channel: string;
  /** Values must be strings. */
  readonly tags: JsonObject;
  /** Deprecated by the platform. */
  readonly integrationName?: string;
}

/** The body of a request for a message (interface.md, Create a message: Request body). */
export interface MessageRequest {
  readonly conversationId: string;
  /** `type` is required. */
  readonly payload: JsonObject;
}

/** A field that the platform would not accept. `message` follows the field's name. */
export interface LimitProblem<Field> {
  readonly field: Field;
  readonly message: string;
}

/** interface.md, Limits: channel length and integrationName length, characters. */
export const LONGEST_NAME = 200;

/** platform-facts.md, Bots, hub, conversations, messages: a message payload, with "128 KB" read as the smaller number. */
const LARGEST_PAYLOAD_BYTES = 128_000;

/** A function, because the first formatted number takes milliseconds, which every start would pay. */
function tooLarge(): string {
  return `makes the request larger than ${count(LARGEST_BODY_BYTES)} bytes`;
}

/** `null`: it may be sent. */
export function checkConversation(
  request: ConversationRequest,
): LimitProblem<keyof ConversationRequest> | null {
  const { channel, tags, integrationName } = request;
  const mistyped = Object.entries(tags).find(([, value]) => typeof value !== 'string');
  if (mistyped !== undefined)
    return { field: 'tags', message: `has a value that is not a string: "${mistyped[0]}"` };
  if (bytesOf({ ...request }) > LARGEST_BODY_BYTES) return { field: 'tags', message: tooLarge() };
  return checkName('channel', channel) ?? checkName('integrationName', integrationName ?? null);
}

/** `null`: it may be sent. */
export function checkMessage({
  conversationId,
  payload,
}: MessageRequest): LimitProblem<keyof MessageRequest> | null {
  if (conversationId === '') return { field: 'conversationId', message: 'is empty' };
  const { type } = payload;
  if (typeof type !== 'string' || type === '') {
    return { field: 'payload', message: 'has no "type"; a text is { "type": "text", "text": "…" }' };
  }
  const sizeBytes = bytesOf(payload);
  if (sizeBytes > LARGEST_PAYLOAD_BYTES) {
    const message = `is ${count(sizeBytes)} bytes of JSON; at most ${count(LARGEST_PAYLOAD_BYTES)} are taken`;
    return { field: 'payload', message };
  }
  if (bytesOf({ conversationId, payload }) <= LARGEST_BODY_BYTES) return null;
  return { field: 'conversationId', message: tooLarge() };
}

function checkName(
  field: 'channel' | 'integrationName',
  name: string | null,
): LimitProblem<typeof field> | null {
  if (name === '') return { field, message: 'is empty' };
  if (name === null || charactersOf(name) <= LONGEST_NAME) return null;
  return { field, message: `has ${charactersOf(name)} characters; at most ${LONGEST_NAME} are allowed` };
}

function bytesOf(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function count(value: number): string {
  return value.toLocaleString('en');
}
