import { Agent, request } from 'undici';
import { expect, onTestFinished } from 'vitest';
import { startEmulator, type Emulator } from '../../src/emulator/emulator.ts';
import type { FileResource } from '../../src/emulator/file-resource.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { makeTemporaryDirectory } from '../temporary-directory.ts';

/** The moment every test begins: ten seconds into a minute. */
export const START = Date.parse('2026-03-01T12:00:10.500Z');

export interface Clock {
  now: number;
}

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

/** A new temporary directory that goes with the test. */
export function temporaryDir(): string {
  return makeTemporaryDirectory('emulator');
}

/** An emulator with a clock that only moves when told to; closed with the test. */
export async function start(
  options: Partial<EmulatorOptions> = {},
): Promise<{ emulator: Emulator; clock: Clock }> {
  const clock: Clock = { now: START };
  const dataDir = options.dataDir ?? temporaryDir();
  const emulator = await startEmulator({ now: () => clock.now, ...options, dataDir });
  onTestFinished(() => emulator.close());
  return { emulator, clock };
}

/** Sends a request on a connection of its own. */
export async function send(
  url: string,
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE',
  headers: Record<string, string>,
  body: string | Buffer | AsyncIterable<Uint8Array> | null = null,
): Promise<Reply> {
  const agent = new Agent({ pipelining: 0 });
  try {
    const reply = await request(url, {
      method,
      headers,
      body: body as string | null,
      dispatcher: agent,
    });
    return { status: reply.statusCode, headers: reply.headers, text: await reply.body.text() };
  } finally {
    await agent.destroy();
  }
}

/** The headers an upsert needs. */
export function upsertHeaders(emulator: Emulator): Record<string, string> {
  return {
    authorization: `Bearer ${emulator.token}`,
    'x-bot-id': emulator.bots[0]?.id ?? '',
    'content-type': 'application/json',
  };
}

/** PUT /v1/files with any body and some other headers (null takes one away). */
export function put(
  emulator: Emulator,
  body: unknown,
  headers: Record<string, string | null> = {},
): Promise<Reply> {
  const all = Object.entries({ ...upsertHeaders(emulator), ...headers });
  const given = Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null));
  return send(
    `${emulator.baseUrl}/v1/files`,
    'PUT',
    given,
    typeof body === 'string' ? body : JSON.stringify(body),
  );
}

/** An upsert that must succeed. */
export async function upsert(
  emulator: Emulator,
  body: Record<string, unknown> & { key: string; size: number },
  headers: Record<string, string> = {},
): Promise<FileResource & { uploadUrl: string }> {
  const reply = await put(emulator, body, headers);
  if (reply.status !== 200) throw new Error(`upsert answered ${reply.status}: ${reply.text}`);
  return (JSON.parse(reply.text) as { file: FileResource & { uploadUrl: string } }).file;
}

/** Sends content as the platform wants it. */
export function upload(
  file: { uploadUrl: string; contentType: string },
  content: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return send(
    file.uploadUrl,
    'PUT',
    { 'content-type': file.contentType, 'content-length': String(Buffer.byteLength(content)), ...headers },
    content,
  );
}

/** Upsert and upload in one. */
export async function store(
  emulator: Emulator,
  key: string,
  content: string,
  body: Record<string, unknown> = {},
): Promise<FileResource> {
  const file = await upsert(emulator, { ...body, key, size: Buffer.byteLength(content) });
  const reply = await upload(file, content);
  if (reply.status !== 200) throw new Error(`upload answered ${reply.status}: ${reply.text}`);
  return file;
}

/** The file of this key of the first bot. */
export function findFile(emulator: Emulator, key: string): ReturnType<Emulator['listFiles']>[number] | null {
  return emulator.listFiles(emulator.bots[0]?.id ?? '').find((file) => file.key === key) ?? null;
}

/** The content of this key of the first bot as text. */
export function readText(emulator: Emulator, key: string): string | null {
  return emulator.readContent(emulator.bots[0]?.id ?? '', key)?.toString() ?? null;
}

/** A request with a JSON body (null sends none); the answer's body parsed. */
export async function call(
  url: string,
  method: 'GET' | 'PUT' | 'POST' | 'DELETE',
  headers: Record<string, string | null>,
  body: unknown = null,
): Promise<{ status: number; headers: Reply['headers']; body: unknown }> {
  const json: Record<string, string | null> = body === null ? {} : { 'content-type': 'application/json' };
  const given = Object.entries({ ...json, ...headers }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  const text = body === null || typeof body === 'string' ? body : JSON.stringify(body);
  const reply = await send(url, method, Object.fromEntries(given), text);
  return { status: reply.status, headers: reply.headers, body: JSON.parse(reply.text) as unknown };
}

/** The shape of an error of the API. */
export function errorBody(code: number, type: string): unknown {
  return {
    id: expect.stringMatching(/^err_/) as string,
    code,
    type,
    message: expect.any(String) as string,
  };
}
