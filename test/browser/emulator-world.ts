import { startEmulator, type Emulator } from '../../src/emulator/emulator.ts';
import { call, store, upsert, upsertHeaders } from '../emulator/fixture.ts';
import { makeTemporaryDirectory } from '../temporary-directory.ts';
import { onTestFinished } from 'vitest';

/** When it is in the pictures: ten o'clock on some day. */
const PICTURE_TIME = Date.parse('2026-03-02T10:00:00Z');

const MINUTE_MS = 60_000;

/** An emulator as somebody has it who tries botsync with the site of a shop. */
export async function startShop(): Promise<Emulator> {
  const clock = { now: PICTURE_TIME - 20 * MINUTE_MS };
  const emulator = await startEmulator({
    now: () => clock.now,
    dataDir: makeTemporaryDirectory('shop'),
    bots: [
      { id: 'demo-bot', name: 'Shop assistant' },
      { id: 'staff-bot', name: 'Staff assistant' },
    ],
    indexingDelayMs: 10_000,
    indexingProgressMs: 90_000,
    workspaceId: 'wkspace_7b1d64e29f',
  });
  onTestFinished(() => emulator.close());
  const page = { index: true, tags: { 'managed-by': 'botsync', kind: 'page' } };
  const media = { tags: { 'managed-by': 'botsync' } };
  await store(emulator, 'docs/welcome.md', 'Welcome.\n'.repeat(140), page);
  await store(emulator, 'docs/guides/returns.md', 'Send it back.\n'.repeat(300), page);
  await store(emulator, 'docs/guides/prices.html', '<p>Prices</p>\n'.repeat(900), {
    ...page,
    accessPolicies: ['public_content'],
  });
  await store(emulator, 'docs/catalogue.zip', 'PK'.repeat(24_000), { ...media, index: true });
  clock.now += 12 * MINUTE_MS;
  await store(emulator, 'docs/reports/2026-02.csv', 'day,visits\n'.repeat(4000), {
    ...media,
    index: true,
    expiresAt: '2026-04-01T00:00:00Z',
    metadata: { team: 'sales' },
  });
  const headers = { ...upsertHeaders(emulator), 'x-workspace-id': emulator.workspaceId };
  const { body } = await call(`${emulator.baseUrl}/v1/chat/conversations`, 'POST', headers, {
    channel: 'channel',
    tags: { topic: 'returns' },
  });
  const { conversation } = body as { conversation: { id: string } };
  await call(
    `${emulator.chatUrl}/${emulator.webhookId}/messages`,
    'POST',
    { 'x-user-key': emulator.userKey },
    { conversationId: conversation.id, payload: { type: 'text', text: 'Can I send it back?' } },
  );
  clock.now += 7 * MINUTE_MS;
  await store(emulator, 'docs/guides/opening-hours.md', 'Open.\n'.repeat(40), page);
  clock.now = PICTURE_TIME - 4000;
  await upsert(emulator, { key: 'docs/media/tour.mp4', size: 60_000_000, ...media });
  clock.now = PICTURE_TIME;
  return emulator;
}

/** Gives an emulator some of all that its page can show. */
export async function fillEmulator(emulator: Emulator): Promise<void> {
  await store(emulator, 'docs/guide.md', 'abc', {
    index: true,
    tags: { kind: 'page', 'managed-by': 'botsync' },
    metadata: { team: 'sales' },
    indexing: { configuration: {} },
    accessPolicies: ['public_content', 'integrations'],
    expiresAt: '2026-03-03T12:01:00Z',
  });
  await store(emulator, 'docs/archive.zip', 'abc', { index: true });
  await upsert(emulator, { key: 'pending.mp4', size: 60_000_000 });
  const url = `${emulator.baseUrl}/v1/chat/conversations`;
  const { body } = await call(url, 'POST', upsertHeaders(emulator), { channel: 'c', tags: { topic: 'x' } });
  const { id: conversationId } = (body as { conversation: { id: string } }).conversation;
  await call(
    `${emulator.chatUrl}/${emulator.webhookId}/messages`,
    'POST',
    { 'x-user-key': emulator.userKey },
    { conversationId, payload: { type: 'text', text: 'Hello' } },
  );
  await emulator.conditions.set({ kind: 'new-ids' });
}
