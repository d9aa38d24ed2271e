import type { World } from './world.ts';

/** Puts another file under a key, as somebody else would. */
export async function replace(world: World, key: string, content: string, metadata = {}): Promise<void> {
  const { emulator } = world;
  const headers = {
    authorization: `Bearer ${emulator.token}`,
    'x-bot-id': 'bot-1',
    'content-type': 'application/json',
  };
  const answer = await fetch(`${emulator.baseUrl}/v1/files`, {
    method: 'PUT',
    headers,
    body: JSON.stringify({ key, size: Buffer.byteLength(content), contentType: 'text/plain', metadata }),
  });
  const { file } = (await answer.json()) as { file: { uploadUrl: string } };
  await fetch(file.uploadUrl, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: content });
}
