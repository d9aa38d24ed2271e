import type { JsonObject, JsonValue } from '../domain/json.ts';

/**
 * A resource of the platform, passed on unchanged with unknown fields and values. Only `id` is checked; a caller that
 * uses another field checks its value. Named after the sections of interface.md.
 */
interface Resource extends JsonObject {
  readonly id: string;
}

/** A bot of a workspace (interface.md, Bot summary). Times are ISO 8601. */
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

/** One page of a list. `nextToken`: `null` on the last page. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextToken: string | null;
}

/** Reads the resource in an answer under a name; `null` if the answer makes no sense. */
export function readResource(text: string, name: string): Resource | null {
  const resource = readObject(text)?.[name];
  return isResource(resource) ? resource : null;
}

/** Reads a page of bots; `null` if the answer makes no sense. */
export function readBotPage(text: string): Page<BotSummary> | null {
  const body = readObject(text);
  const bots = body?.['bots'];
  if (!isList(bots) || !bots.every(isResource)) return null;
  const nextToken = body === null ? undefined : readNextToken(body);
  return nextToken === undefined ? null : { items: bots, nextToken };
}

/** Reads the token of a list's next page; `null`: no further page; `undefined`: the answer makes no sense. */
export function readNextToken(body: JsonObject): string | null | undefined {
  const meta = body['meta'] ?? null;
  const nextToken = isObject(meta) ? (meta['nextToken'] ?? '') : '';
  if (typeof nextToken !== 'string') return undefined;
  return nextToken === '' ? null : nextToken;
}

/** No answer is nested this deeply, and the recursion cannot overflow the stack. */
const DEEPEST_NESTING = 500;

/** Parses an answer that is a JSON object; `null` if it is not. */
export function readObject(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isObject(value) && !isDeeperThan(DEEPEST_NESTING, value) ? value : null;
  } catch {
    return null;
  }
}

/** Allocates nothing, because it checks every answer. */
function isDeeperThan(limit: number, value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit === 0) return true;
  if (isList(value)) {
    for (const one of value) if (isNestedDeeper(limit, one)) return true;
    return false;
  }
  // Parsed values inherit nothing enumerable.
  for (const name in value) if (isNestedDeeper(limit, value[name])) return true;
  return false;
}

function isNestedDeeper(limit: number, value: JsonValue | undefined): boolean {
  return typeof value === 'object' && value !== null && isDeeperThan(limit - 1, value);
}

function isResource(value: JsonValue | undefined): value is Resource {
  return isObject(value) && typeof value['id'] === 'string' && value['id'] !== '';
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
