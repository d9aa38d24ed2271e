import { randomUUID } from 'node:crypto';
import { isApiError, type Client } from '@botpress/client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { got, officialClient } from './official-driver.ts';
import { chooseTargets, type Target } from './target.ts';

// The public operations beyond interface.md, one by one, as platform-operations.md has them.
describe.each(chooseTargets())('the operations on files at $name', ({ open }) => {
  let target: Target;
  let client: Client;
  const run = randomUUID();
  const expiresAt = new Date(Date.now() + 15 * 60_000).toISOString();

  // A live platform takes its time between the last byte and the next status.
  const soon = { timeout: 120_000, interval: 250 };

  beforeAll(async () => {
    target = await open();
    client = officialClient(target);
  });

  afterAll(() => target.close());

  function key(name: string): string {
    return `botsync-conformance/${run}/${name}`;
  }

  async function store(
    name: string,
    content = name,
    more: Partial<Parameters<Client['uploadFile']>[0]> = {},
  ): Promise<File> {
    const { file } = await client.uploadFile({ key: key(name), content, tags: { run }, expiresAt, ...more });
    return file;
  }

  type File = Awaited<ReturnType<Client['uploadFile']>>['file'];

  async function settle(id: string, status: string): Promise<void> {
    await vi.waitFor(async () => {
      expect((await client.getFile({ id })).file.status).toBe(status);
    }, soon);
  }

  async function refusal(call: Promise<unknown>): Promise<{ code: number; type: string } | null> {
    const error: unknown = await call.then(
      () => null,
      (reason: unknown) => reason,
    );
    return isApiError(error) ? { code: error.code, type: error.type } : null;
  }

  describe('get a file', () => {
    test('by its id and by its key', async () => {
      const { id } = await store('get ä/%2F.txt');
      await settle(id, 'upload_completed');
      const { file } = await client.getFile({ id });
      expect(file).toMatchObject({
        id,
        key: key('get ä/%2F.txt'),
        size: Buffer.byteLength('get ä/%2F.txt'),
        owner: { type: expect.stringMatching(/^(bot|user)$/) as string },
        tags: { run },
      });
      expect((await client.getFile({ id: file.key })).file.id).toBe(id);
    });

    test('has no size before its content', async () => {
      const { file } = await client.upsertFile({ key: key('pending.txt'), size: 3, expiresAt });
      expect((await client.getFile({ id: file.id })).file).toMatchObject({
        size: null,
        status: 'upload_pending',
      });
    });

    test('says when there is none', async () => {
      expect(await refusal(client.getFile({ id: key('none') }))).toEqual({
        code: 404,
        type: 'ResourceNotFound',
      });
    });
  });

  describe('list files', () => {
    test('by ids, in batches of 50', async () => {
      const ids: string[] = [];
      for (const name of ['list-a', 'list-b', 'list-c']) ids.push((await store(name)).id);
      const files = await client.list.files({ ids, pageSize: 50 }).collect();
      expect(files.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      const many = Array.from({ length: 51 }, () => ids[0] ?? '');
      expect((await refusal(client.listFiles({ ids: many })))?.code).toBe(400);
    });

    test('by what is to be indexed', async () => {
      await store('list-plain.md');
      const { id } = await store('list-indexed.md', '# Hello', { index: true });
      const indexed = await client.list.files({ tags: { run }, indexed: true }).collect();
      expect(indexed.map((file) => file.id)).toContain(id);
      expect(indexed.every((file) => file.index)).toBe(true);
    });

    test.each(['key', 'size', 'createdAt', 'updatedAt', 'status'] as const)(
      'sorted by %s, each file once over all pages',
      async (sortField) => {
        const of = randomUUID();
        for (const name of ['c', 'A', 'b', 'ä', 'B']) {
          await store(`${of}/${name}`, name.repeat(1 + (name.charCodeAt(0) % 7)), { tags: { of } });
        }
        const ids = (sortDirection: 'asc' | 'desc'): Promise<string[]> =>
          client.list
            .files({ tags: { of }, sortField, sortDirection })
            .collect()
            .then((files) => files.map(({ id }) => id));
        const ascending = await ids('asc');
        expect(new Set(ascending).size).toBe(ascending.length);
        expect(ascending).toHaveLength(5);
        expect((await ids('desc')).toSorted()).toEqual(ascending.toSorted());
      },
    );
  });

  describe("change a file's facts", () => {
    test('merges tags and metadata, replaces policies, moves and ends the expiry', async () => {
      const { id } = await store('change.txt', 'abc', {
        tags: { run, keep: '1', drop: '1' },
        metadata: { keep: [1], drop: 1 },
        accessPolicies: ['public_content'],
      });
      const later = new Date(Math.floor(Date.now() / 60_000) * 60_000 + 20 * 60_000).toISOString();
      const { file } = await client.updateFileMetadata({
        id,
        tags: { drop: null, add: '2' },
        metadata: { drop: null, add: { deep: true } },
        accessPolicies: ['integrations'],
        expiresAt: later,
      });
      expect(file.tags).toEqual({ run, keep: '1', add: '2' });
      expect(file.metadata).toEqual({ keep: [1], add: { deep: true } });
      expect(file.accessPolicies).toEqual(['integrations']);
      expect(Date.parse(file.expiresAt ?? '')).toBe(Date.parse(later));
      await settle(id, 'upload_completed');
      const { url, size } = (await client.getFile({ id })).file;
      expect(size).toBe(3);
      expect(await (await fetch(url)).text()).toBe('abc');
      const endless = await client.updateFileMetadata({ id, expiresAt: null });
      expect(endless.file.expiresAt).toBeUndefined();
      await client.deleteFile({ id });
    });

    test('refuses an expiry in the past, and says when there is no file', async () => {
      const { id } = await store('change-refused.txt');
      const past = new Date(Date.now() - 60_000).toISOString();
      expect((await refusal(client.updateFileMetadata({ id, expiresAt: past })))?.code).toBe(400);
      expect(await got(client.updateFileMetadata({ id: `file_${randomUUID()}`, tags: {} }))).toEqual({
        kind: 'not-found',
      });
    });
  });

  test('delete a file: once', async () => {
    const { id } = await store('delete.txt');
    expect(await client.deleteFile({ id })).toEqual({});
    expect(await refusal(client.deleteFile({ id }))).toEqual({ code: 404, type: 'ResourceNotFound' });
  });

  describe('what is indexed', () => {
    const text = '# Bicycles\n\nEvery bicycle has a bell.\n\nOil the chain twice a year.\n';
    let id: string;

    beforeAll(async () => {
      ({ id } = await store('bicycles.md', text, { index: true }));
      await settle(id, 'indexing_completed');
    }, 150_000);

    test('has the stack that indexed it', async () => {
      expect((await client.getFile({ id })).file.indexingStack).toMatch(/^v\d$/);
    });

    test('is found, with its file', async () => {
      const { passages } = await client.searchFiles({
        query: 'oil the chain',
        tags: { run },
        limit: 1,
        contextDepth: 0,
        consolidate: false,
        includeBreadcrumb: true,
        withContext: true,
      });
      expect(passages).toHaveLength(1);
      expect(passages[0]).toMatchObject({
        content: expect.stringContaining('chain') as string,
        score: expect.any(Number) as number,
        meta: expect.any(Object) as object,
        file: { id, key: key('bicycles.md'), tags: { run }, contentType: 'text/markdown' },
      });
      expect((await client.searchFiles({ query: 'chain', tags: { run: 'none' } })).passages).toEqual([]);
    });

    test('has passages, page by page', async () => {
      const passages = await client.list.filePassages({ id }).collect();
      expect(passages.map(({ content }) => content).join('\n')).toContain('Every bicycle has a bell');
      expect(new Set(passages.map((one) => one.id)).size).toBe(passages.length);
    });

    test('counts as used', async () => {
      for (const type of [
        'storage_count',
        'knowledgebase_vector_storage',
        'indexed_file_count',
        'file_max_size_bytes',
        'workspace_ratelimit',
      ] as const) {
        for (const of of [target.workspaceId, target.botId]) {
          const answer = await got(client.getUsage({ id: of, type }));
          expect(answer, type).toMatchObject({
            kind: 'ok',
            value: {
              usage: {
                type,
                value: expect.any(Number) as number,
                quota: expect.any(Number) as number,
                period: expect.any(String) as string,
              },
            },
          });
        }
      }
    });
  });
});
