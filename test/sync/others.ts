import type { World } from './world.ts';

/** Requests an operation as another client of the bot would. Gives the answer's body. */
async function callAs(
  { emulator }: Pick<World, 'emulator'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${emulator.baseUrl}/v1/files${path}`, {
    method,
    headers: {
      authorization: `Bearer ${emulator.token}`,
      'x-bot-id': 'bot-1',
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer;
}

/** Puts a file on the emulator as somebody else would. Gives its id. */
export async function putAs(
  world: Pick<World, 'emulator'>,
  key: string,
  content: string,
  facts: Record<string, unknown> = {},
): Promise<string> {
  const size = Buffer.byteLength(content);
  const { file } = await callAs(world, 'PUT', '', { key, size, ...facts });
  const { id, uploadUrl, contentType } = file as { id: string; uploadUrl: string; contentType: string };
  const headers = { 'content-type': contentType };
  const response = await fetch(uploadUrl, { method: 'PUT', body: content, headers });
  if (!response.ok) throw new Error(await response.text());
  return id;
}

/** A file on the emulator as another client sees it. */
export async function getAs(world: Pick<World, 'emulator'>, key: string): Promise<Record<string, unknown>> {
  const { file } = await callAs(world, 'GET', `/${encodeURIComponent(key)}`);
  return file as Record<string, unknown>;
}

/** Changes the facts of a file on the emulator. */
export async function tellAs(
  world: Pick<World, 'emulator'>,
  key: string,
  facts: Record<string, unknown>,
): Promise<void> {
  const { id } = await getAs(world, key);
  await callAs(world, 'PUT', `/${String(id)}`, facts);
}

/** Deletes a file of the emulator. */
export async function deleteAs(world: Pick<World, 'emulator'>, key: string): Promise<void> {
  await callAs(world, 'DELETE', `/${encodeURIComponent(key)}`);
}
