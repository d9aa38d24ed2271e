import { get, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Html, html } from '../../src/web/html.ts';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { call, put, send, start, store, upload, upsert, upsertHeaders } from './fixture.ts';
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
    const stored = await store(emulator, 'docs/a.md', 'abc', {
      index: true,
      tags: { kind: 'page' },
      accessPolicies: ['public_content'],
    });
    await store(emulator, 'b.zip', 'abc', { index: true, expiresAt: '2026-03-03T12:01:00Z' });
    await upsert(emulator, { key: 'c.txt', size: 1_500_000 });
    await converse(emulator, { topic: 'x' }, 'Hello');
    const reply = await open(emulator);
    expect(reply.status).toBe(200);
    expect(reply.text).toContain(`<a href="/?bot=b1&#38;file=${stored.id}"><bdi>docs/a.md</bdi></a>`);
    const text = readable(reply);
    for (const part of [
      emulator.baseUrl,
      `${emulator.chatUrl}/${emulator.webhookId}`,
      emulator.workspaceId,
      'Bot one (b1)3 files, 1.5 MB',
      'b20 files, 0 B',
      'docs/a.md indexing completedindex on public 3 B text/markdown 0 s ago never kind: page',
      'b.zip indexing failedIndexing of ".zip" files is not supportedindex on 3 B application/zip 0 s ago in 2 days',
      'c.txt upload pending 1.5 MB text/plain not yet never',
      'topic: x',
      '0 s ago 200 upsert PUT /v1/files c.txt',
    ]) {
      expect(text).toContain(part);
    }
    for (const secret of [emulator.token, emulator.userKey]) expect(reply.text).not.toContain(secret);
    expect(readable(await open(emulator, { bot: 'b2' }))).toContain('No files yet.');
  });

  test('escapes whatever came from outside', async () => {
    const { emulator } = await start({ bots: [{ id: HOSTILE, name: HOSTILE }] });
    const { id: file } = await store(emulator, HOSTILE, 'abc', {
      tags: { [HOSTILE]: HOSTILE },
      metadata: { [HOSTILE]: HOSTILE },
    });
    await put(emulator, { key: 'x', size: 0 }, { 'x-integration-id': HOSTILE });
    const conversation = await converse(emulator, { [HOSTILE]: HOSTILE }, HOSTILE);
    for (const query of [{}, { conversation }, { file }, { filter: HOSTILE }]) {
      const reply = await open(emulator, query);
      expect(reply.status).toBe(200);
      expect(reply.text).not.toContain('<script>alert');
      expect(readable(reply)).toContain(`${HOSTILE}: ${HOSTILE}`);
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
    const shown = async (files: string): Promise<string[]> =>
      readable(await open(emulator, { files }))
        .replace(/Requests the latest.*/, '')
        .match(/file-\d{3}/g) ?? [];
    expect(await shown('1')).toEqual(keys.slice(0, 100));
    expect(await shown('3')).toEqual(keys.slice(200));
    expect(await shown('99')).toEqual(keys.slice(200));
    for (const nonsense of ['0', '-1', '1.5', 'x', '1e99'])
      expect(await shown(nonsense)).toEqual(keys.slice(0, 100));
    const { text } = await open(emulator, { files: '2' });
    const [pages = ''] = /<nav class="pages" aria-label="Pages of files">.*?<\/nav>/s.exec(text) ?? [];
    expect(pages).toContain('Page 2 of 3');
    expect(pages.match(/href="\/\?bot=demo-bot[^"]*">(First|Previous|Next|Last)/g)).toEqual([
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
    expect(text).toContain('0 s ago · user_default · text Hello you');
  });

  test('shows the facts of a file, and the requests about it', async () => {
    const { emulator, clock } = await start({ indexingDelayMs: 60_000 });
    const { id, url } = await store(emulator, 'docs/a.md', 'abc', {
      index: true,
      indexing: { configuration: { chunking: { maxChunkLength: 500 } } },
      metadata: { team: 'sales' },
      expiresAt: '2026-03-03T12:01:00Z',
    });
    await store(emulator, 'docs/b.md', 'abc');
    clock.now += 90_000;
    const reply = await open(emulator, { file: id });
    const text = readable(reply);
    for (const part of [
      'Status indexing completed Marks index on Content Open the content Size 3 bytes',
      'Content type text/markdown Uploaded 2 min ago 2026-03-01 12:00:10 UTC',
      'Expires in 2 days 2026-03-03 12:01:00 UTC',
      'Owner bot demo-bot',
      'Metadata { "team": "sales" } Indexing { "configuration": { "chunking"',
      `Id ${id}`,
    ]) {
      expect(text).toContain(part);
    }
    const [, path] = /href="([^"]+)">Open the content/.exec(reply.text) ?? [];
    expect(path?.split('?')[0]).toBe(url.split('?')[0]);
    expect((await send(path?.replaceAll('&#38;', '&') ?? '', 'GET', {})).text).toBe('abc');
    expect(text).toMatch(
      /about this file When Answer Request About 2 min ago 200 upload PUT \S+ docs\/a\.md/,
    );
    expect(text).not.toContain('docs/b.md');
    await emulator.conditions.set({ kind: 'failing-uploads', keys: '**', reason: 'no good' });
    const failed = await store(emulator, 'c', 'abc');
    expect(readable(await open(emulator, { file: failed.id }))).toContain(
      'upload failedno good Content none',
    );
  });

  test.each<[Record<string, string>, string[]]>([
    [{}, ['a/b.zip', 'a/Ärger.md', 'b/A%_.md', 'c.txt']],
    [{ filter: 'A' }, ['a/b.zip', 'a/Ärger.md', 'b/A%_.md']],
    [{ filter: 'ärger' }, ['a/Ärger.md']],
    [{ filter: '%_' }, ['b/A%_.md']],
    [{ filter: 'nothing' }, []],
    [{ status: 'indexing_failed' }, ['a/b.zip']],
    [{ status: 'upload_pending' }, ['c.txt']],
    [{ status: 'x', only: 'y', sort: 'z' }, ['a/b.zip', 'a/Ärger.md', 'b/A%_.md', 'c.txt']],
    [{ only: 'indexed' }, ['a/b.zip', 'a/Ärger.md']],
    [{ only: 'not-indexed' }, ['b/A%_.md', 'c.txt']],
    [{ only: 'public' }, ['b/A%_.md']],
    [{ only: 'expiring' }, ['a/Ärger.md']],
    [{ only: 'indexed', filter: 'zip' }, ['a/b.zip']],
    [{ sort: 'latest' }, ['a/b.zip', 'c.txt', 'b/A%_.md', 'a/Ärger.md']],
  ])('of %o shows %j', async (query, keys) => {
    const { emulator, clock } = await start();
    const upserts = [
      ['a/Ärger.md', { index: true, expiresAt: '2026-03-03T12:01:00Z' }],
      ['b/A%_.md', { accessPolicies: ['public_content'] }],
    ] as const;
    for (const [key, body] of upserts) {
      await store(emulator, key, 'abc', body);
      clock.now += 1000;
    }
    const late = await upsert(emulator, { key: 'a/b.zip', size: 3, index: true });
    clock.now += 1000;
    await upsert(emulator, { key: 'c.txt', size: 3 });
    clock.now += 1000;
    await upload(late, 'abc');
    const { text } = await open(emulator, query);
    const shown = [...text.matchAll(/<a href="[^"]*file=file_[^"]*"><bdi>(.*?)<\/bdi>/g)].map(
      ([, key]) => key,
    );
    expect(shown).toEqual(keys);
    if (keys.length === 0) expect(text).toContain('No file is like that.');
  });

  test('what cannot be seen in a name is written out', async () => {
    const { emulator } = await start();
    await store(emulator, 'a\u202egpj.exe', 'abc');
    await store(emulator, 'zero\u200bwidth', 'abc');
    const text = readable(await open(emulator));
    expect(text).toContain('a\\u202egpj.exe');
    expect(text).toContain('zero\\u200bwidth');
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
    expect(readable(await open(emulator))).toContain('0 s ago 502 upsert PUT /v1/files a');
    expect(emulator.requests.length).toBe(1);
  });

  test('shows requests twenty at a time, the latest first, and forgets those long ago', async () => {
    const { emulator } = await start({ recordRequests: true, recordedRequestsMax: 45 });
    for (let index = -5; index < 45; index += 1) await upsert(emulator, { key: `k${index}`, size: 0 });
    const shown = async (requests: string): Promise<string[]> => {
      const text = readable(await open(emulator, { requests })).replace(/Conversations 0.*/, '');
      return [...text.matchAll(/PUT \/v1\/files (k\d+)/g)].map(([, key]) => key ?? '');
    };
    const keys = Array.from({ length: 45 }, (_, index) => `k${44 - index}`);
    expect(await shown('1')).toEqual(keys.slice(0, 20));
    expect(await shown('3')).toEqual(keys.slice(40));
  });

  test('events: every part at first, then those that changed, for as long as somebody listens', async () => {
    const { emulator, clock } = await start();
    await store(emulator, 'a.md', 'abc');
    const { response, next } = await listen(emulator, '?filter=md');
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    });
    expect(await next('clock')).toBe(String(clock.now));
    const all = await next('parts');
    for (const secret of [emulator.token, emulator.userKey]) expect(all).not.toContain(secret);
    const first = JSON.parse(all) as Record<string, string>;
    expect(Object.keys(first)).toEqual([
      'bots',
      'conditions',
      'files-heading',
      'files',
      'requests',
      'conversations',
    ]);
    expect(first['files']).toContain('a.md');
    await store(emulator, 'b.md', 'abc');
    await store(emulator, 'c.txt', 'abc');
    let changed: Record<string, string> = {};
    while (changed['files']?.includes('b.md') !== true)
      changed = JSON.parse(await next('parts')) as Record<string, string>;
    expect(changed['files']).not.toContain('c.txt');
    expect(changed).not.toHaveProperty('conversations');
    // What the clock alone changes, such as the words of how long ago something was, is for the page itself.
    clock.now += 1000;
    await emulator.conditions.set({ kind: 'new-ids' });
    let last = await next('parts');
    while (!last.includes('gets a new id')) last = await next('parts');
    expect(Object.keys(JSON.parse(last) as object)).toEqual(['conditions']);
    expect(emulator.counts.has('page-events')).toBe(false);
  });

  test('events are for nobody at another name, and tell what is gone', async () => {
    const { emulator } = await start();
    expect((await send(`${emulator.baseUrl}/events`, 'GET', { host: 'emulator.example.com' })).status).toBe(
      403,
    );
    const { id } = await store(emulator, 'a.md', 'abc');
    const { next } = await listen(emulator, `?file=${id}`);
    expect(await next('parts')).toContain('a.md');
    await call(`${emulator.baseUrl}/v1/files/${id}`, 'DELETE', upsertHeaders(emulator));
    expect(await next('parts')).toContain('There is no such file, or not any more.');
  });

  test.each([{ bot: 'nobody' }, { conversation: 'none' }, { file: 'none' }])('%o: 404', async (query) => {
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
