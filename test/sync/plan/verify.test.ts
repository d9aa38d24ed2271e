import { expect, test } from 'vitest';
import type { FileKey, RelativePath } from '../../../src/domain/key.ts';
import type { CatalogFile } from '../../../src/domain/file-catalog.ts';
import type { Fingerprint } from '../../../src/domain/fingerprint.ts';
import type { FileRecord } from '../../../src/domain/record.ts';
import { createHash } from 'node:crypto';
import { markOf } from '../../../src/domain/mark.ts';
import { failed, ok } from '../../../src/domain/failure.ts';
import { createVerifyWorld, type VerifyWorld } from '../verify-world.ts';
import { deleteAs, putAs, tellAs } from '../others.ts';

const HOUR_MS = 3_600_000;

/** Names that a collation orders otherwise than their bytes. */
const NAMES = [
  'a.md',
  'B.md',
  'ä.md',
  'Z.md',
  'é.md',
  'a-b.md',
  'a/b.md',
  'a_b.md',
  '10.md',
  '9.md',
  '\u{1f600}.md',
];

async function begin(names: readonly string[] = ['a.md', 'b.md', 'c.md']): Promise<VerifyWorld> {
  const world = await createVerifyWorld();
  for (const name of names) world.write(`docs/${name}`, `content of ${name}`);
  expect((await world.pass()).exitCode).toBe(0);
  world.clock.advance(HOUR_MS);
  return world;
}

const sha = (text: string): Buffer => createHash('sha256').update(text).digest();

test('nothing is different of what was sent, whatever the order of the list', async () => {
  const world = await begin(NAMES);
  const { reasons, verified } = await world.verify();
  expect(reasons).toEqual([]);
  expect(verified).toMatchObject({ compared: NAMES.length, same: NAMES.length, foreign: 0, busy: 0 });
});

test('one request a page and none a file, while nothing is different', async () => {
  const world = await begin(Array.from({ length: 230 }, (_none, at) => `${at}.md`));
  const { counts } = world.emulator;
  const before = counts.get('list-files') ?? 0;
  expect((await world.verify()).verified?.same).toBe(230);
  expect((counts.get('list-files') ?? 0) - before).toBe(3);
  expect(counts.get('get-file') ?? 0).toBe(0);
});

test('what was deleted, overwritten, or told otherwise is different', async () => {
  const world = await begin(['deleted.md', 'replaced.md', 'tagged.md', 'stretched.md', 'same.md']);
  await deleteAs(world, 'deleted.md');
  await putAs(world, 'replaced.md', 'content of replaced.md');
  await tellAs(world, 'tagged.md', { accessPolicies: ['integrations'] });
  await tellAs(world, 'stretched.md', {
    expiresAt: new Date(world.clock.now() + 24 * HOUR_MS).toISOString(),
  });
  await putAs(world, 'theirs.md', 'theirs');
  const { reasons, verified, differences } = await world.verify();
  expect(reasons).toEqual([
    'facts stretched.md',
    'facts tagged.md',
    'missing deleted.md',
    'replaced replaced.md',
  ]);
  expect(verified).toMatchObject({ compared: 5, same: 1, foreign: 1 });
  expect(verified?.reasons).toEqual({ facts: 2, missing: 1, replaced: 1 });
  expect(differences.find(({ reason }) => reason === 'missing')).toMatchObject({
    source: 'docs',
    path: 'deleted.md',
    id: null,
    noted: 'content',
  });
});

test('another content under our mark is told by its size', async () => {
  const world = await begin(['a.md']);
  await putAs(world, 'a.md', 'short', { metadata: { botsync: markOf(sha('content of a.md'), 'docs') } });
  expect((await world.verify()).reasons).toEqual(['size a.md']);
});

test('a platform that makes new ids keeps what is ours', async () => {
  const world = await begin(['a.md']);
  await world.emulator.conditions.set({ kind: 'new-ids' });
  const text = 'content of a.md';
  await putAs(world, 'a.md', text, {
    metadata: { botsync: markOf(sha(text), 'docs') },
    contentType: 'text/markdown',
  });
  const { reasons, same } = await world.verify();
  expect(reasons.filter((one) => !one.startsWith('facts'))).toEqual([]);
  expect(same.map(({ sent, found }) => sent.remoteId === found.remoteId)).not.toContain(true);
});

test('a list that lags behind makes no difference', async () => {
  const world = await begin(['a.md', 'b.md']);
  await world.emulator.conditions.set({ kind: 'lagging-list', lagMs: Infinity });
  world.write('docs/c.md', 'new');
  world.write('docs/a.md', 'longer than it was');
  world.remove('docs/b.md');
  expect((await world.pass()).exitCode).toBe(0);
  world.clock.advance(HOUR_MS);
  const { reasons, verified } = await world.verify();
  expect(reasons).toEqual([]);
  expect(verified).toMatchObject({ compared: 2, same: 2 });
});

test('what changes while the list is read makes none either', async () => {
  const world = await begin(['a.md', 'b.md', 'c.md']);
  for (const key of ['a.md', 'b.md']) await deleteAs(world, key);
  const { reasons, verified } = await world.verify((state) => ({
    catalog: {
      list: () => {
        // It is sent again meanwhile; another is on its way as it is compared.
        state
          .beginSending(
            { target: 1, key: 'a.md' as FileKey },
            'docs',
            'a.md' as RelativePath,
            { fingerprint: '1:1:1:1' as Fingerprint, trusted: true, settingsDigest: '', sizeBytes: 1 },
            world.clock.now(),
          )
          .catch(() => undefined);
        return Promise.resolve(ok({ files: [], nextToken: null }));
      },
      get: () => Promise.resolve(failed({ kind: 'not-found', message: 'gone' })),
    },
    isBusy: (key) => key === 'b.md',
  }));
  expect(reasons).toEqual(['missing c.md']);
  expect(verified).toMatchObject({ busy: 2, compared: 1 });
});

test('what the list lacks and is there by now is not told', async () => {
  const world = await begin(['a.md']);
  const { reasons, verified } = await world.verify((state) => ({
    catalog: {
      list: () => Promise.resolve(ok({ files: [], nextToken: null })),
      get: () => Promise.resolve(ok(asSent(state.find({ target: 1, key: 'a.md' as FileKey })))),
    },
  }));
  expect(reasons).toEqual([]);
  expect(verified?.same).toBe(1);
});

/** A file as the platform has it when all is well. */
function asSent(sent: FileRecord | null): CatalogFile {
  if (sent?.sha256 === null || sent === null) throw new Error('no record');
  return {
    id: 'file_1',
    key: sent.key,
    sizeBytes: sent.sizeBytes,
    status: 'upload_completed',
    failedReason: null,
    contentType: null,
    tags: {},
    metadata: { botsync: markOf(sent.sha256, 'docs') },
    accessPolicies: [],
    index: false,
    expiresAtMs: null,
    ownerType: 'bot',
    url: null,
  };
}

test('a file with our mark that is neither here nor recorded is an orphan', async () => {
  const world = await begin(['a.md']);
  const mark = (source: string): Record<string, unknown> => ({
    metadata: { botsync: markOf(sha('x'), source) },
  });
  await putAs(world, 'gone.md', 'x', mark('docs'));
  await putAs(world, 'here.md', 'x', mark('docs'));
  world.write('docs/here.md', 'not sent yet');
  await putAs(world, 'other.md', 'x', mark('other'));
  await putAs(world, 'unmarked.md', 'x');
  const { reasons, verified, differences } = await world.verify();
  expect(reasons).toEqual(['orphan gone.md']);
  expect(differences[0]).toMatchObject({ source: 'docs', path: 'gone.md' });
  expect(verified?.foreign).toBe(3);
});

test('of a source that cannot be seen nothing is an orphan', async () => {
  const world = await begin(['a.md']);
  await putAs(world, 'gone.md', 'x', { metadata: { botsync: markOf(sha('x'), 'docs') } });
  world.remove('docs');
  const { reasons, verified } = await world.verify();
  expect(reasons).toEqual([]);
  expect(verified?.foreign).toBe(1);
});

test('without the operation to get a file the list decides, but for what was sent lately', async () => {
  const world = await begin(['a.md', 'b.md']);
  world.fail('get-file', 405, { times: Infinity });
  await deleteAs(world, 'a.md');
  expect((await world.verify()).reasons).toEqual(['missing a.md']);
  world.write('docs/c.md', 'new');
  await world.pass();
  await deleteAs(world, 'c.md');
  world.clock.advance(60_000);
  const { reasons, verified } = await world.verify();
  expect(reasons).toEqual(['missing a.md']);
  expect(verified?.busy).toBe(1);
});

test('without the list nothing can be compared', async () => {
  const world = await begin(['a.md']);
  world.fail('list-files', 405, { times: Infinity });
  const { verified, failure } = await world.verify();
  expect(verified).toBeNull();
  expect(failure).toContain('does not serve');
});

test('contents are read where that is asked for', async () => {
  const world = await begin(['a.md', 'b.md', 'c.md']);
  const urls: string[] = [];
  const { reasons, verified } = await world.verify(() => ({
    readDigest: (url) => {
      urls.push(url);
      const name = ['a.md', 'b.md', 'c.md'][urls.length - 1] ?? '';
      if (name === 'c.md') return Promise.resolve(failed({ kind: 'refused', message: 'no' }));
      return Promise.resolve(ok(name === 'a.md' ? sha('content of a.md') : sha('another')));
    },
  }));
  expect(urls).toHaveLength(3);
  expect(reasons).toEqual(['content b.md']);
  expect(verified).toMatchObject({ same: 2, unread: 1, reasons: { content: 1 } });
});
