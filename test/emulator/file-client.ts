import type { Emulator } from '../../src/emulator/emulator.ts';
import type { FileResource } from '../../src/emulator/file-resource.ts';
import { call, upsertHeaders } from './fixture.ts';

type Headers = Record<string, string | null>;

/** A request to the main address as the first bot, with some other headers (null takes one away). */
export function ask(
  emulator: Emulator,
  method: 'GET' | 'PUT' | 'POST' | 'DELETE',
  path: string,
  body: unknown = null,
  headers: Headers = {},
): ReturnType<typeof call> {
  return call(`${emulator.baseUrl}${path}`, method, { ...upsertHeaders(emulator), ...headers }, body);
}

/** The path of a file, by its id or its key. */
export function pathOf(name: string, rest = ''): string {
  return `/v1/files/${encodeURIComponent(name)}${rest}`;
}

/** The file that a request must answer with. */
async function fileOf(answer: ReturnType<typeof call>): Promise<FileResource> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(`it answered ${status}: ${JSON.stringify(body)}`);
  return (body as { file: FileResource }).file;
}

/** The file of this id or key as the platform shows it. */
export function get(emulator: Emulator, name: string): Promise<FileResource> {
  return fileOf(ask(emulator, 'GET', pathOf(name)));
}

/** The keys of a list. */
export async function listKeys(emulator: Emulator, query = ''): Promise<string[]> {
  const { status, body } = await ask(emulator, 'GET', `/v1/files${query}`);
  if (status !== 200) throw new Error(`the list answered ${status}`);
  return (body as { files: { key: string }[] }).files.map(({ key }) => key);
}
