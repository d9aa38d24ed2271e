import { readHeaderText } from '../../config/values.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { checkConversation, type ConversationRequest, checkMessage } from '../../domain/request-limits.ts';
import { printResource, type ResourceOptions } from '../render/resource.ts';
import { platformError } from '../../run/sync-error.ts';
import type { ConversationIdentity } from '../../run/platform/clients.ts';
import { withSession } from '../session.ts';
import { readTags } from '../arguments.ts';
import { UsageError } from '../usage-error.ts';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { shown } from '../render/output.ts';
import type { JsonObject } from '../../domain/json.ts';

export interface ConversationOptions extends ResourceOptions {
  readonly channel: string;
  readonly tag: readonly string[] | undefined;
  readonly integrationName: string | undefined;
  readonly integrationId: string | undefined;
  readonly integrationAlias: string | undefined;
}

/** `botsync conversation create` (interface.md, Create a conversation). Returns the exit code; throws `UsageError`. */
export function createConversation(options: ConversationOptions): Promise<number> {
  const request = readRequest(options);
  const identity = readIdentity(options);
  return withSession(options, 'conversation create', async ({ conversations, signal, secrets }) => {
    const outcome = await conversations(identity).create(request, signal);
    if (outcome.kind === 'failed')
      throw platformError('the conversation could not be created', outcome.failure, 'creates');
    const first = ['id', 'channel', 'integration', 'tags', 'createdAt'];
    printResource(options, secrets, { name: 'conversation', resource: outcome.value, first });
    return EXIT.ok;
  });
}

const CONVERSATION_OPTIONS = {
  channel: '--channel',
  tags: '--tag',
  integrationName: '--integration-name',
} as const;

function readRequest({ channel, tag = [], integrationName }: ConversationOptions): ConversationRequest {
  const request = {
    channel,
    tags: readTags(tag),
    ...(integrationName !== undefined && { integrationName }),
  };
  const problem = checkConversation(request);
  if (problem === null) return request;
  throw new UsageError(`${CONVERSATION_OPTIONS[problem.field]} ${problem.message}`);
}

/** Reads the options that override the identity in the configuration. */
function readIdentity({ integrationId, integrationAlias }: ConversationOptions): ConversationIdentity {
  return {
    ...(integrationId !== undefined && { integrationId: readHeader('--integration-id', integrationId) }),
    ...(integrationAlias !== undefined && {
      integrationAlias: readHeader('--integration-alias', integrationAlias),
    }),
  };
}

function readHeader(option: string, text: string): string {
  const read = readHeaderText(text);
  if (read.kind === 'problem') throw new UsageError(`${option} ${read.message}`);
  return read.value;
}

export interface MessageOptions extends ResourceOptions, PayloadOptions {
  readonly conversation: string;
}

const MESSAGE_OPTIONS = { conversationId: '--conversation', payload: 'the payload' } as const;

/** `botsync message send` (interface.md, Create a message). Returns the exit code; throws `UsageError`. */
export async function sendMessage(options: MessageOptions): Promise<number> {
  const request = { conversationId: options.conversation, payload: await readPayload(options) };
  const problem = checkMessage(request);
  if (problem !== null) throw new UsageError(`${MESSAGE_OPTIONS[problem.field]} ${problem.message}`);
  return await withSession(options, 'message send', async ({ chat, signal, secrets }) => {
    const outcome = await chat().send(request, signal);
    if (outcome.kind === 'failed')
      throw platformError('the message could not be sent', outcome.failure, 'creates');
    const first = ['id', 'conversationId', 'userId', 'createdAt'];
    printResource(options, secrets, { name: 'message', resource: outcome.value, first, whole: ['payload'] });
    return EXIT.ok;
  });
}

/** Exactly one of these is given. */
export interface PayloadOptions {
  readonly text: string | undefined;
  readonly audioUrl: string | undefined;
  /** JSON, a file with JSON, or `-` for standard input. */
  readonly payload: string | undefined;
}

/** More than any payload may have; reading stops there. */
const LARGEST_INPUT_BYTES = 1_000_000;

/** Reads the payload (interface.md, Message; platform-facts.md: the payload of a text). Throws `UsageError`. */
async function readPayload({ text, audioUrl, payload }: PayloadOptions): Promise<JsonObject> {
  const given = [text, audioUrl, payload].filter((option) => option !== undefined);
  if (given.length !== 1) {
    const wrong = given.length === 0 ? 'the message is missing' : 'a message has exactly one content';
    throw new UsageError(`${wrong}; write one of --text TEXT, --audio-url URL and --payload FILE|JSON|-`);
  }
  if (text !== undefined) {
    if (text.trim() === '') throw new UsageError('--text is empty; write the text of the message');
    return { type: 'text', text };
  }
  if (audioUrl !== undefined) {
    if (!isWebAddress(audioUrl))
      throw new UsageError(`--audio-url ${shown(audioUrl)} is not an address; write http://… or https://…`);
    return { type: 'audio', audioUrl };
  }
  return await readJson(payload ?? '');
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//iu.test(text) && URL.canParse(text);
}

async function readJson(payload: string): Promise<JsonObject> {
  // Paths seldom begin like JSON; "./{…" is always a path.
  if (/^\s*[[{"]/u.test(payload)) return parse(payload, '--payload');
  if (payload === '-') return parse(await readAll(process.stdin, 'standard input'), 'standard input');
  if (payload === '') throw new UsageError('--payload is empty; write a file, JSON, or - for standard input');
  const name = shown(payload);
  return parse(await readAll(createReadStream(payload), name), name);
}

async function readAll(stream: Readable, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      sizeBytes += chunk.length;
      if (sizeBytes > LARGEST_INPUT_BYTES)
        throw new UsageError(`${name} is too large: a payload has at most 128,000 bytes`);
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      throw new UsageError(`${name} is not UTF-8; save it as UTF-8`);
    const why =
      code === 'ENOENT' ? 'does not exist; JSON itself begins with {' : `cannot be read: ${code ?? ''}`;
    throw new UsageError(`--payload: ${name} ${why}`);
  }
}

function parse(text: string, name: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${name} is not JSON: ${shown((error as Error).message).slice(0, 200)}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new UsageError(`${name} is not a JSON object; write for example {"type":"text","text":"Hello"}`);
}
