import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { run, start, temporaryDirectory } from './binary.ts';

interface Told {
  readonly baseUrl: string;
  readonly token: string;
}

/** Runs `botsync emulator` until the test ends. */
async function startCommand(...options: string[]): Promise<Told> {
  const args = ['emulator', '--port', '0', '--json', '--data', 'data', '--bot', 'b1', ...options];
  const { child, ended } = start(temporaryDirectory(), args);
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  return new Promise((resolve) => {
    child.stdout?.once('data', (text: string) => {
      resolve(JSON.parse(text) as Told);
    });
  });
}

async function ask(
  { baseUrl, token }: Told,
  method: 'GET' | 'PUT',
  path: string,
  content: object | null = null,
): Promise<{ status: number; body: unknown }> {
  const { statusCode, body } = await request(`${baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'x-bot-id': 'b1', 'content-type': 'application/json' },
    body: content === null ? null : JSON.stringify(content),
  });
  return { status: statusCode, body: await body.json() };
}

/** Stores a file to be indexed, and tells its status. */
async function statusOf(told: Told, key: string): Promise<string> {
  const { body } = await ask(told, 'PUT', '/v1/files', { key, size: 3, index: true });
  const { uploadUrl, contentType } = (body as { file: Record<'uploadUrl' | 'contentType', string> }).file;
  const upload = await request(uploadUrl, {
    method: 'PUT',
    headers: { 'content-type': contentType },
    body: 'abc',
  });
  expect(upload.statusCode).toBe(200);
  await upload.body.dump();
  const found = await ask(told, 'GET', `/v1/files/${encodeURIComponent(key)}`);
  return (found.body as { file: { status: string } }).file.status;
}

test('emulator --operations specified serves no list', async () => {
  const told = await startCommand('--operations', 'specified');
  expect((await ask(told, 'PUT', '/v1/files', { key: 'a.md', size: 3 })).status).toBe(200);
  expect(await ask(told, 'GET', '/v1/files')).toMatchObject({
    status: 405,
    body: { type: 'MethodNotFound' },
  });
});

test('emulator --indexing-delay 1h: a file is not searchable yet', async () => {
  expect(await statusOf(await startCommand('--indexing-delay', '1h'), 'a.md')).toBe('indexing_pending');
});

test('emulator --fail-indexing: once for each pattern', async () => {
  const told = await startCommand('--fail-indexing', 'docs/*.md', '--fail-indexing', '*bad*');
  expect(await statusOf(told, 'docs/a.md')).toBe('indexing_failed');
  expect(await statusOf(told, 'docs/deep/bad.md')).toBe('indexing_failed');
  expect(await statusOf(told, 'a.md')).toBe('indexing_completed');
});

test.each([
  ['identity.json', 'is damaged; remove it to get new secrets for the emulator'],
  ['emulator.db', 'is damaged (file is not a database); remove its directory to start again'],
])('data that cannot be used are no defect: %s', async (name, reason) => {
  const directory = temporaryDirectory();
  const dataDir = join(directory, '.botsync/emulator');
  mkdirSync(dataDir, { recursive: true });
  mkdirSync(join(directory, 'docs'));
  writeFileSync(join(dataDir, name), 'nonsense'.repeat(1000));
  const config = { platform: { botId: 'b1' }, sources: [{ directory: './docs' }] };
  writeFileSync(join(directory, 'botsync.config.json'), JSON.stringify(config));
  for (const args of [
    ['emulator', '--port', '0'],
    ['sync', '--once', '--emulator'],
  ]) {
    const { code, stderr } = await run(directory, args);
    expect(stderr).toBe(`${join(dataDir, name)} ${reason}\n`);
    expect(code).toBe(2);
  }
});
