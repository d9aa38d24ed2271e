import { Client, isApiError } from '@botpress/client';
import { expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { findFile, readText, start } from './fixture.ts';

function clientOf(emulator: Emulator, token = emulator.token): Client {
  const { baseUrl: apiUrl, workspaceId } = emulator;
  return new Client({ apiUrl, token, botId: 'demo-bot', workspaceId });
}

test('uploadFile of the official client stores content', async () => {
  const { emulator } = await start();
  const { file } = await clientOf(emulator).uploadFile({
    key: 'docs/ä ö.md',
    content: '# Hello',
    index: true,
    tags: { a: 'b' },
    accessPolicies: ['public_content'],
    publicContentImmediatelyAccessible: true,
  });
  expect(file).toMatchObject({ key: 'docs/ä ö.md', size: 7, contentType: 'text/markdown' });
  expect(readText(emulator, 'docs/ä ö.md')).toBe('# Hello');
  expect(findFile(emulator, 'docs/ä ö.md')?.status).toBe('indexing_completed');
  expect(await (await fetch(file.url)).text()).toBe('# Hello');
});

test('upsertFile of the official client answers an uploadUrl', async () => {
  const { emulator } = await start();
  const { file } = await clientOf(emulator).upsertFile({ key: 'a.bin', size: 3, metadata: { n: 1 } });
  expect(file).toMatchObject({ status: 'upload_pending', metadata: { n: 1 }, owner: { type: 'bot' } });
  expect(file.uploadUrl).toContain(emulator.baseUrl);
});

test('the official client understands the errors', async () => {
  const { emulator } = await start();
  const wrong = await clientOf(emulator, 'wrong')
    .upsertFile({ key: 'a', size: 1 })
    .catch((error: unknown) => error);
  expect(isApiError(wrong) && wrong).toMatchObject({ code: 401, type: 'Unauthorized' });
  const large = await clientOf(emulator)
    .upsertFile({ key: 'a', size: 1_000_000_001 })
    .catch((error: unknown) => error);
  expect(isApiError(large) && large).toMatchObject({ code: 413, type: 'LimitExceeded' });
});
