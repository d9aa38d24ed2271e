import { describe, expect, test } from 'vitest';
import { Html, html } from '../../src/web/html.ts';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { call, put, send, start, store, upsert, upsertHeaders } from './fixture.ts';
import type { Reply } from './fixture.ts';

const HOSTILE = `<script>alert(1)</script>"'&`;

function open(
  emulator: Emulator,
  query: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Reply> {
  return send(`${emulator.baseUrl}/?${new URLSearchParams(query).toString()}`, 'GET', headers);
}

async function converse(emulator: Emulator, tags: Record<string, string>, text: string): Promise<string> {
  const url = `${emulator.baseUrl}/v1/chat/conversations`;
  const { body } = await call(url, 'POST', upsertHeaders(emulator), { channel: HOSTILE, tags });
  const conversationId = (body as { conversation: { id: string } }).conversation.id;
  const headers = { 'x-user-key': emulator.userKey };
  const payload = { type: 'text', text };
  await call(`${emulator.chatUrl}/${emulator.webhookId}/messages`, 'POST', headers, {
    conversationId,
    payload,
  });
  return conversationId;
}

/** What the page says, without its markup. */
function readable({ text }: Reply): string {
  return text
    .replace(/<style>.*<\/style>/s, '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll(/\s+/g, ' ');
}

test('markup from outside is escaped, ours is not', () => {
  const inner = html`<b title="${HOSTILE}">${HOSTILE}</b>`;
  expect(inner.markup).not.toMatch(/<script|"'|&[^#]/);
  expect(html`<p>${inner}${[inner, new Html('<i>')]}${7}</p>`.markup).toBe(
    `<p>${inner.markup}${inner.markup}<i>7</p>`,
  );
});

describe('the page', () => {
  test('shows addresses, bots, files and conversations, and no secret', async () => {
    const { emulator } = await start({
      bots: [
        { id: 'b1', name: 'Bot one' },
        { id: 'b2', name: 'b2' },
      ],
    });
    const stored = await store(emulator, 'docs/a.md', 'abc', { index: true, tags: { kind: 'page' } });
    await store(emulator, 'b.zip', 'abc', { index: true, expiresAt: '2026-03-03T12:01:00Z' });
    await upsert(emulator, { key: 'c.txt', size: 1_500_000 });
    await converse(emulator, { topic: 'x' }, 'Hello');
    const reply = await open(emulator);
    expect(reply.status).toBe(200);
    expect(reply.text).toContain(`<a href="${stored.url.replaceAll('&', '&#38;')}">docs/a.md</a>`);
    const text = readable(reply);
    for (const part of [
      emulator.baseUrl,
      `${emulator.chatUrl}/${emulator.webhookId}`,
      emulator.workspaceId,
      'Bot one (b1)3 files, 1.5 MB',
      'b20 files, 0 B',
      'docs/a.md indexing completed 3 B never kind: page',
      'b.zip indexing failedIndexing of ".zip" files is not supported 3 B in 2 days',
      'c.txt upload pending 1.5 MB never',
      'topic: x',
    ]) {
      expect(text).toContain(part);
    }
    for (const secret of [emulator.token, emulator.userKey]) expect(reply.text).not.toContain(secret);
    expect(readable(await open(emulator, { bot: 'b2' }))).toContain('No files yet.');
  });

  test('escapes whatever came from outside', async () => {
    const { emulator } = await start({ bots: [{ id: HOSTILE, name: HOSTILE }] });
    await store(emulator, HOSTILE, 'abc', { tags: { [HOSTILE]: HOSTILE } });
    await put(emulator, { key: 'x', size: 0 }, { 'x-integration-id': HOSTILE });
    const conversation = await converse(emulator, { [HOSTILE]: HOSTILE }, HOSTILE);
    for (const query of [{}, { conversation }]) {
      const reply = await open(emulator, query);
      expect(reply.status).toBe(200);
      expect(reply.text).not.toContain('<script');
      expect(readable(reply)).toContain(`${HOSTILE}: ${HOSTILE}`);
    }
  });

  test('lets nothing run, whatever is in it', async () => {
    const { emulator } = await start();
    const { headers } = await open(emulator);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
      ) as string,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    const { url } = await store(emulator, 'a.html', '<script>1</script>');
    expect((await send(url, 'GET', {})).headers).toMatchObject({ 'content-security-policy': 'sandbox' });
  });

  test('shows files a hundred at a time, the page that is asked for or the nearest', async () => {
    const { emulator } = await start();
    const keys = Array.from({ length: 205 }, (_, index) => `file-${String(index).padStart(3, '0')}`);
    for (const key of keys) await upsert(emulator, { key, size: 0 });
    const shown = async (files: string): Promise<string[]> =>
      readable(await open(emulator, { files })).match(/file-\d{3}/g) ?? [];
    expect(await shown('1')).toEqual(keys.slice(0, 100));
    expect(await shown('3')).toEqual(keys.slice(200));
    expect(await shown('99')).toEqual(keys.slice(200));
    for (const nonsense of ['0', '-1', '1.5', 'x', '1e99'])
      expect(await shown(nonsense)).toEqual(keys.slice(0, 100));
    const { text } = await open(emulator, { files: '2' });
    expect(text).toContain('Page 2 of 3');
    expect(text.match(/href="\/\?bot=demo-bot[^"]*">(First|Previous|Next|Last)/g)).toEqual([
      'href="/?bot=demo-bot">First',
      'href="/?bot=demo-bot">Previous',
      'href="/?bot=demo-bot&#38;files=3">Next',
      'href="/?bot=demo-bot&#38;files=3">Last',
    ]);
  });

  test('shows the messages of a conversation', async () => {
    const { emulator } = await start();
    const conversation = await converse(emulator, {}, 'Hello\nyou');
    const text = readable(await open(emulator, { conversation }));
    expect(text).toContain('1 message');
    expect(text).toContain('user_default · text Hello you');
  });

  test.each([{ bot: 'nobody' }, { conversation: 'none' }])('%o: 404', async (query) => {
    const { emulator } = await start();
    expect((await open(emulator, query)).status).toBe(404);
  });

  test.each([
    ['localhost:8787', 200],
    ['127.0.0.1', 200],
    ['[::1]:8787', 200],
    ['emulator.example.com', 403],
    ['localhost.example.com:8787', 403],
  ])('asked for at %s: %s', async (host, status) => {
    const { emulator } = await start();
    expect((await open(emulator, {}, { host })).status).toBe(status);
  });
});
