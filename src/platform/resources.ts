import type { JsonObject, JsonValue } from '../domain/json.ts';

/**
 * What the platform says of its resources, passed through untouched: fields and values that are not known here are kept.
 * Only `id` is relied on; a caller that uses another field checks what it holds. Named after the sections of interface.md.
 */
interface Resource extends JsonObject {
  readonly id: string;
}

/** A bot of a workspace (interface.md, Bot summary). Moments are ISO 8601. */
export interface BotSummary extends Resource {
  readonly name?: JsonValue;
  readonly createdAt?: JsonValue;
  readonly updatedAt?: JsonValue;
  readonly deployedAt?: JsonValue;
}

/** An entry of the hub (interface.md, Integration). `signingSecret` is a secret. */
export interface Integration extends Resource {
  readonly name?: JsonValue;
  readonly version?: JsonValue;
  readonly title?: JsonValue;
  readonly description?: JsonValue;
  readonly signingSecret?: JsonValue;
}

/** A conversation (interface.md, Conversation). */
export type Conversation = Resource;

/** A message (interface.md, Message). */
export interface Message extends Resource {
  readonly payload?: JsonValue;
}

/** One page of the bots of a workspace (interface.md, Bot list response). `nextToken`: `null` on the last page. */
export interface BotPage {
  readonly bots: readonly BotSummary[];
  readonly nextToken: string | null;
}

/** The resource that an answer holds under a name; `null` when the answer makes no sense. */
export function readResource(text: string, name: string): Resource | null {
  const resource = readObject(text)?.[name];
  return isResource(resource) ? resource : null;
}

/** A page of bots; `null` when the answer makes no sense. */
export function readBotPage(text: string): BotPage | null {
  const body = readObject(text);
  const bots = body?.['bots'];
  if (!isList(bots) || !bots.every(isResource)) return null;
  const nextToken = body === null ? undefined : readNextToken(body);
  return nextToken === undefined ? null : { bots, nextToken };
}

/** What a list says of its next page; `null`: it is the last. `undefined`: that makes no sense. */
export function readNextToken(body: JsonObject): string | null | undefined {
  const meta = body['meta'] ?? null;
  const nextToken = isObject(meta) ? (meta['nextToken'] ?? '') : '';
  if (typeof nextToken !== 'string') return undefined;
  return nextToken === '' ? null : nextToken;
}

/** Deeper nesting than any answer has, and less than what makes recursion overflow the stack. */
const DEEPEST_NESTING = 500;

/** The JSON object that an answer is; `null` when it is none. */
export function readObject(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isObject(value) && !isDeeperThan(DEEPEST_NESTING, value) ? value : null;
  } catch {
    return null;
  }
}

/** Every answer is gone through: nothing is made on the way. The limit keeps the recursion from going too deep. */
function isDeeperThan(limit: number, value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit === 0) return true;
  if (isList(value)) {
    for (const one of value) if (isNestedDeeper(limit, one)) return true;
    return false;
  }
  // What was parsed inherits nothing that could be enumerated.
  for (const name in value) if (isNestedDeeper(limit, value[name])) return true;
  return false;
}

function isNestedDeeper(limit: number, value: JsonValue | undefined): boolean {
  return typeof value === 'object' && value !== null && isDeeperThan(limit - 1, value);
}

function isResource(value: JsonValue | undefined): value is Resource {
  return isObject(value) && typeof value['id'] === 'string' && value['id'] !== '';
}

/** Whether a value is an object, and no list. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}

/** Whether a value is a list. */
export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
