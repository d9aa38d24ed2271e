import { get, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { call, put, send, start, store, upsert, upsertHeaders, type Reply } from './fixture.ts';

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

/** Listens to the events of the page; `next` resolves to the data of the next event of a name. */
async function listen(
  emulator: Emulator,
  query: string,
): Promise<{ response: IncomingMessage; next: (event: string) => Promise<string> }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${emulator.baseUrl}/events${query}`, resolve).on('error', reject);
  });
  onTestFinished(() => {
    response.destroy();
  });
  const lines = createInterface({ input: response })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const read: IteratorResult<string, undefined> = await lines.next();
    return read.value ?? expect.fail('the stream has ended');
  };
  const next = async (event: string): Promise<string> => {
    while ((await line()) !== `event: ${event}`);
    return (await line()).replace(/^data: /, '');
  };
  return { response, next };
}

/** What the page says, without its markup. */
function readable({ text }: Reply): string {
  return text
    .replace(/<style>.*<\/style>/s, '')
    .replace(/<script>.*<\/script>/s, '')
    .replaceAll(/<\/(td|th|dt|dd)>/g, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll(/\s+/g, ' ');
}

/** The keys of the files that the page shows. */
function keysIn({ text }: Reply): string[] {
  const [files = ''] = /<section id="files".*?<\/section>/s.exec(text) ?? [];
  return [...files.matchAll(/<td role="cell" class="name" data-label="Key">.*?<bdi>(.*?)<\/bdi>/gs)].map(
    ([, key]) => key ?? '',
  );
}

describe('the page', () => {
  test('shows addresses, bots, files and messages, and no secret', async () => {
    const { emulator } = await start({
      bots: [
        { id: 'b1', name: 'Bot one' },
        { id: 'b2', name: 'b2' },
      ],
    });
    const stored = await store(emulator, 'docs/a.md', 'abc', {
      index: true,
      tags: { kind: 'page' },
      accessPolicies: ['public_content'],
    });
    await store(emulator, 'b.zip', 'abc', { index: true, expiresAt: '2026-03-03T12:01:00Z' });
    await upsert(emulator, { key: 'c.txt', size: 1_500_000 });
    const conversation = await converse(emulator, { topic: 'x' }, 'Hello');
    const reply = await open(emulator);
    expect(reply.status).toBe(200);
    expect(reply.text).toContain(`<a href="/open/${stored.id}"><bdi>docs/a.md</bdi></a>`);
    const text = readable(reply);
    for (const part of [
      emulator.baseUrl,
      `${emulator.chatUrl}/${emulator.webhookId}`,
      emulator.workspaceId,
      'Bot one (b1)3 files, 1.5 MB',
      'b20 files, 0 B',
      'docs/a.md indexing completedindex on public kind: page 3 B text/markdown 0 s ago never',
      'b.zip indexing failedIndexing of ".zip" files is not supportedindex on 3 B application/zip 0 s ago in 2 days',
      'c.txt upload pending 1.5 MB text/plain not yet never',
      `0 s ago user_default ${conversation} Hello`,
      '0 s ago 200 upsert PUT /v1/files c.txt',
    ]) {
      expect(text).toContain(part);
    }
    for (const secret of [emulator.token, emulator.userKey]) expect(reply.text).not.toContain(secret);
    expect(readable(await open(emulator, { bot: 'b2' }))).toContain('No files yet.');
  });

  test('folds requests that are repeated', async () => {
    const { emulator } = await start();
    await upsert(emulator, { key: 'a.md', size: 3 });
    for (let time = 0; time < 3; time += 1)
      await call(`${emulator.baseUrl}/v1/files`, 'GET', upsertHeaders(emulator), undefined);
    const text = readable(await open(emulator));
    expect(text.match(/list-files GET \/v1\/files/gu)).toHaveLength(1);
    expect(text).toContain('list-files GET /v1/files 3 times');
    expect(text).toContain('the latest 4, of all bots');
    emulator.faults.add({ operation: 'list-files', kind: 'status', status: 500 });
    await call(`${emulator.baseUrl}/v1/files`, 'GET', upsertHeaders(emulator), undefined);
    const refused = readable(await open(emulator));
    expect(refused, 'another answer').toMatch(
      /500 list-files GET \/v1\/files .*200 list-files GET \/v1\/files 3 times/u,
    );
  });

  test('escapes whatever came from outside', async () => {
    const { emulator } = await start({ bots: [{ id: HOSTILE, name: HOSTILE }] });
    await store(emulator, HOSTILE, 'abc', {
      tags: { [HOSTILE]: HOSTILE },
      metadata: { [HOSTILE]: HOSTILE },
    });
    await put(emulator, { key: 'x', size: 0 }, { 'x-integration-id': HOSTILE });
    await converse(emulator, { [HOSTILE]: HOSTILE }, HOSTILE);
    for (const query of [{}, { filter: HOSTILE }, { bot: HOSTILE }]) {
      const reply = await open(emulator, query);
      expect(reply.status).toBe(200);
      expect(reply.text).not.toContain('<script>alert');
      expect(readable(reply)).toContain(`${HOSTILE}: ${HOSTILE}`);
      expect(readable(reply)).toMatch(/user_default conv_\S+ <script>/);
    }
  });

  test('lets nothing run but its own script, whatever is in it', async () => {
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
    const shown = async (page: string): Promise<string[]> => keysIn(await open(emulator, { page }));
    expect(await shown('1')).toEqual(keys.slice(0, 100));
    expect(await shown('3')).toEqual(keys.slice(200));
    expect(await shown('99')).toEqual(keys.slice(200));
    for (const nonsense of ['0', '-1', '1.5', 'x']) expect(await shown(nonsense)).toEqual(keys.slice(0, 100));
    const { text } = await open(emulator, { page: '2' });
    const [pages = ''] = /<nav class="pages" aria-label="Pages of files">.*?<\/nav>/s.exec(text) ?? [];
    expect(pages).toContain('Page 2 of 3');
    expect(pages.match(/href="\/\?bot=demo-bot[^"]*">(Previous|Next)/g)).toEqual([
      'href="/?bot=demo-bot">Previous',
      'href="/?bot=demo-bot&#38;page=3">Next',
    ]);
  });

  test('shows all facts of a file, and leads to its content', async () => {
    const { emulator, clock } = await start();
    const { id } = await store(emulator, 'docs/a.md', 'abc', {
      metadata: { team: 'sales' },
      expiresAt: '2026-03-03T12:01:00Z',
    });
    const text = readable(await open(emulator));
    expect(text).toContain('"metadata": { "team": "sales" }');
    expect(text).toContain(`"id": "${id}"`);
    // An address that was signed when the page was made would not do for ever.
    clock.now += 86_400_000;
    const { status, headers } = await send(`${emulator.baseUrl}/open/${id}`, 'GET', {});
    expect(status).toBe(302);
    expect((await send(String(headers['location']), 'GET', {})).text).toBe('abc');
    expect((await send(`${emulator.baseUrl}/open/none`, 'GET', {})).status).toBe(404);
    await emulator.conditions.set({ kind: 'failing-uploads', keys: '**', reason: 'no good' });
    const failed = await store(emulator, 'c', 'abc');
    const reply = await open(emulator);
    expect(readable(reply)).toContain('upload failedno good');
    expect(reply.text).not.toContain(`/open/${failed.id}`);
  });

  test.each<[Record<string, string>, string[]]>([
    [{}, ['a/b.zip', 'a/Ärger.md', 'b/A%_.md', 'c.txt']],
    [{ filter: 'A' }, ['a/b.zip', 'a/Ärger.md', 'b/A%_.md']],
    [{ filter: 'ärger' }, ['a/Ärger.md']],
    [{ filter: '%_' }, ['b/A%_.md']],
    [{ filter: 'nothing' }, []],
    [{ status: 'indexing_failed' }, ['a/b.zip']],
    [{ status: 'upload_pending' }, ['c.txt']],
    [{ status: 'x', bot: 'nobody' }, ['a/b.zip', 'a/Ärger.md', 'b/A%_.md', 'c.txt']],
    [{ status: 'indexing_completed', filter: 'md' }, ['a/Ärger.md']],
  ])('of %o shows %j', async (query, keys) => {
    const { emulator } = await start();
    await store(emulator, 'a/Ärger.md', 'abc', { index: true });
    await store(emulator, 'b/A%_.md', 'abc');
    await store(emulator, 'a/b.zip', 'abc', { index: true });
    await upsert(emulator, { key: 'c.txt', size: 3 });
    const reply = await open(emulator, query);
    expect(keysIn(reply)).toEqual(keys);
    if (keys.length === 0) expect(reply.text).toContain('No file is like that.');
  });

  test('what cannot be seen in a name is written out', async () => {
    const { emulator } = await start();
    await store(emulator, 'a\u202egpj.exe', 'abc');
    const text = readable(await open(emulator));
    expect(text).toContain('a\\u202egpj.exe');
  });

  test('is no request to the platform, and nothing that befalls the platform befalls it', async () => {
    const { emulator } = await start({ recordRequests: true, rateLimit: { requests: 1, windowMs: 60_000 } });
    emulator.faults.add({ operation: 'page', kind: 'status', status: 500, times: Infinity });
    await emulator.conditions.set({ kind: 'unavailable', status: 502 });
    for (let time = 0; time < 3; time += 1) {
      const reply = await open(emulator);
      expect(reply.status).toBe(200);
      expect(readable(reply)).toContain('Every request is answered with 502.');
    }
    expect(emulator.requests).toEqual([]);
    expect([...emulator.counts]).toEqual([]);
    await put(emulator, { key: 'a', size: 1 });
    const text = readable(await open(emulator, { filter: 'A' }));
    expect(text).toContain('0 s ago 502 upsert PUT /v1/files a');
    expect(text).toContain('Fault "status" at every page.');
    expect(readable(await open(emulator, { filter: 'b' }))).not.toContain('PUT /v1/files');
    expect(emulator.requests.length).toBe(1);
  });

  test('events: every part at first, then those that changed, for as long as somebody listens', async () => {
    const { emulator, clock } = await start();
    await store(emulator, 'a.md', 'abc');
    const { response, next } = await listen(emulator, '?filter=md');
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    });
    const all = await next('parts');
    for (const secret of [emulator.token, emulator.userKey]) expect(all).not.toContain(secret);
    const first = JSON.parse(all) as Record<string, string>;
    expect(Object.keys(first)).toEqual(['bots', 'departures', 'files', 'requests', 'messages']);
    expect(first['files']).toContain('a.md');
    await store(emulator, 'b.md', 'abc');
    await store(emulator, 'c.txt', 'abc');
    let changed: Record<string, string> = {};
    while (changed['files']?.includes('b.md') !== true)
      changed = JSON.parse(await next('parts')) as Record<string, string>;
    expect(changed['files']).not.toContain('c.txt');
    expect(changed).not.toHaveProperty('messages');
    // What the clock alone changes, such as the words of how long ago something was, is for the page itself.
    clock.now += 1000;
    await emulator.conditions.set({ kind: 'new-ids' });
    let last = await next('parts');
    while (!last.includes('gets a new id')) last = await next('parts');
    expect(Object.keys(JSON.parse(last) as object)).toEqual(['departures']);
    expect(emulator.counts.has('page-events')).toBe(false);
  });

  test('neither events nor contents are for anybody at another name', async () => {
    const { emulator } = await start();
    const { id } = await store(emulator, 'a.md', 'abc');
    for (const path of ['/events', `/open/${id}`])
      expect((await send(emulator.baseUrl + path, 'GET', { host: 'emulator.example.com' })).status).toBe(403);
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
