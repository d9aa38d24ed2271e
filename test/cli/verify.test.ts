import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { markOf } from '../../src/domain/mark.ts';
import { deleteAs, putAs, tellAs } from '../sync/others.ts';
import { createSite, run, start, type Ended, type Site } from './binary.ts';

const MARK = { metadata: { botsync: markOf(createHash('sha256').update('x').digest(), 'docs') } };

async function begin(
  fields: Record<string, unknown> = {},
): Promise<Site & { verify: (...args: string[]) => Promise<Ended> }> {
  const site = await createSite(fields, {}, 'auto');
  for (const name of ['a.md', 'b.md', 'c.md']) site.write(`docs/${name}`, `content of ${name}`);
  expect((await site.sync()).code).toBe(0);
  return { ...site, verify: (...args) => run(site.directory, ['verify', ...args], site.env) };
}

test('nothing is found where nothing is different, and what is found is told', async () => {
  const site = await begin();
  const same = await site.verify();
  expect(same).toMatchObject({ code: 0, stdout: 'No differences: 3 of 3 files are as they were sent\n' });
  await deleteAs(site, 'a.md');
  await putAs(site, 'b.md', 'theirs');
  await putAs(site, 'theirs.md', 'theirs');
  const found = await site.verify();
  expect(found.code).toBe(3);
  expect(found.stdout).toMatch(/^missing +docs\/a\.md +the bot does not have it$/mu);
  expect(found.stdout).toMatch(/^replaced +docs\/b\.md +somebody else replaced it/mu);
  expect(found.stdout).toContain(
    'Differences found: 1 of 3 files is as it was sent; 1 missing, 1 replaced, 1 by others',
  );
  const json = await site.verify('--json');
  expect(json.code).toBe(3);
  const [counts, ...differences] = json.lines().reverse();
  // Several files are compared at a time: in which order they are reported is left to chance.
  expect(differences.sort((one, other) => String(one['key']).localeCompare(String(other['key'])))).toEqual([
    {
      kind: 'verify',
      source: 'docs',
      path: 'a.md',
      key: 'a.md',
      reason: 'missing',
      detail: 'the bot does not have it',
    },
    expect.objectContaining({ kind: 'verify', key: 'b.md', reason: 'replaced' }),
  ]);
  expect(counts).toEqual({
    kind: 'verification',
    compared: 3,
    same: 1,
    foreign: 1,
    busy: 0,
    unread: 0,
    reasons: { missing: 1, replaced: 1 },
  });
});

describe('--repair', () => {
  test('sends what is lost or told otherwise, and leaves what others put there', async () => {
    const site = await begin();
    await deleteAs(site, 'a.md');
    await putAs(site, 'b.md', 'theirs');
    await tellAs(site, 'c.md', { accessPolicies: ['public_content'] });
    const repaired = await site.verify('--repair', '--json');
    expect(repaired.code).toBe(3);
    expect(repaired.lines()).toContainEqual(
      expect.objectContaining({ kind: 'upload', path: 'a.md', reason: 'differs', outcome: 'done' }),
    );
    expect(site.emulator.readContent('bot-1', 'a.md')?.toString()).toBe('content of a.md');
    expect(site.emulator.readContent('bot-1', 'b.md')?.toString()).toBe('theirs');
    const again = await site.verify('--json');
    expect(again.lines().at(-1)).toMatchObject({ same: 2, reasons: { replaced: 1 } });
    // It is not in sync as long as that is so.
    expect((await site.sync()).code).toBe(3);
    const status = await run(site.directory, ['status', '--json'], site.env);
    expect(status.lines()[0]).toMatchObject({ sources: [{ files: 2, failed: 1 }] });
    site.write('docs/b.md', 'changed here');
    expect((await site.sync()).code).toBe(0);
    expect((await site.verify()).code).toBe(0);
  });

  test('that is killed in its midst is made up for by the next pass', async () => {
    const site = await begin();
    for (const key of ['a.md', 'b.md', 'c.md']) await deleteAs(site, key);
    site.emulator.faults.add({ operation: 'upload', kind: 'hang', times: 1 });
    const before = site.emulator.counts.get('upload') ?? 0;
    const repairing = start(site.directory, ['verify', '--repair'], site.env);
    await vi.waitFor(
      () => {
        expect(site.emulator.counts.get('upload') ?? 0).toBeGreaterThan(before);
      },
      { timeout: 60_000 },
    );
    repairing.child.kill('SIGKILL');
    await repairing.ended;
    site.emulator.faults.clear();
    expect((await site.sync()).code).toBe(0);
    for (const name of ['a.md', 'b.md', 'c.md'])
      expect(site.emulator.readContent('bot-1', name)?.toString()).toBe(`content of ${name}`);
    expect((await site.verify()).code).toBe(0);
  });

  test('needs the state file', async () => {
    const site = await begin();
    const daemon = start(site.directory, ['sync'], site.env);
    await new Promise<void>((ready) => {
      daemon.child.stderr?.on('data', (text: string) => {
        if (text.includes('In sync')) ready();
      });
    });
    const busy = await site.verify('--repair');
    expect(busy.code).toBe(6);
    expect(busy.stderr).toContain('every verify.every');
    expect((await site.verify()).code).toBe(0);
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  });
});

describe('--prune', () => {
  test('removes orphans and nothing else', async () => {
    const site = await begin();
    await putAs(site, 'orphan.md', 'x', MARK);
    await putAs(site, 'theirs.md', 'x');
    expect((await site.verify('--json')).lines()[0]).toMatchObject({ key: 'orphan.md', reason: 'orphan' });
    const pruned = await site.verify('--prune');
    expect(pruned.stdout).toContain('Pruned: 1 orphan removed, 0 left');
    expect(pruned.code).toBe(0);
    expect(site.emulator.listFiles('bot-1').map(({ key }) => key)).toEqual([
      'a.md',
      'b.md',
      'c.md',
      'theirs.md',
    ]);
  });

  test('is halted by the guard against mass removal', async () => {
    const site = await begin({ removals: { mode: 'keep', maxCount: 1 } });
    for (const key of ['o1.md', 'o2.md']) await putAs(site, key, 'x', MARK);
    const halted = await site.verify('--prune');
    expect(halted.code).toBe(5);
    expect(halted.stdout).toContain('more than removals.maxCount (1)');
    expect(site.emulator.listFiles('bot-1')).toHaveLength(5);
    expect((await site.verify('--prune', '--allow-removals')).code).toBe(0);
    expect(site.emulator.listFiles('bot-1')).toHaveLength(3);
  });

  test.each([
    ['was emptied', '', 'has no files'],
    ['has a directory in whose place an empty one stands', 'deep/', 'may be hidden'],
  ])(
    'removes none where the source %s since an older state file was written',
    async (_what, below, reason) => {
      const site = await begin();
      for (const key of ['o1.md', 'o2.md']) await putAs(site, `${below}${key}`, 'x', MARK);
      const docs = join(site.directory, 'docs');
      if (below === '') for (const name of readdirSync(docs)) rmSync(join(docs, name));
      else mkdirSync(join(docs, below));
      const before = site.emulator.listFiles('bot-1').length;
      const halted = await site.verify('--prune');
      expect(halted.stdout).toContain(reason);
      expect(halted.code).toBe(5);
      expect(site.emulator.listFiles('bot-1')).toHaveLength(before);
    },
  );

  test('leaves an empty file that expires where nothing can be deleted', async () => {
    const site = await begin();
    await putAs(site, 'orphan.md', 'x', MARK);
    site.emulator.faults.add({ operation: 'delete-file', kind: 'status', status: 405, times: Infinity });
    expect((await site.verify('--prune')).code).toBe(0);
    expect(site.emulator.readContent('bot-1', 'orphan.md')?.toString()).toBe('');
  });
});

test('--content reads what is there, and never shows its address', async () => {
  const site = await begin();
  const { botsync } = { botsync: markOf(createHash('sha256').update('content of a.md').digest(), 'docs') };
  await putAs(site, 'a.md', 'CONTENT OF a.md', {
    metadata: { botsync },
    contentType: 'text/markdown',
  });
  expect((await site.verify()).code).toBe(0);
  const read = await site.verify('--content', '--json', '--log-level', 'trace');
  expect(read.code).toBe(3);
  expect(read.lines()[0]).toMatchObject({ key: 'a.md', reason: 'content' });
  expect(read.lines().at(-1)).toMatchObject({ same: 2, unread: 0 });
  expect(read.stdout + read.stderr).not.toContain('X-Amz');
  site.emulator.faults.add({ operation: 'content', kind: 'status', status: 400, times: Infinity });
  const unread = await site.verify('--content', '--json');
  expect(unread.code).toBe(3);
  expect(unread.lines().at(-1)).toMatchObject({ same: 3, unread: 3 });
});

test('a platform that serves no list cannot be verified', async () => {
  const site = await begin();
  site.emulator.faults.add({ operation: 'list-files', kind: 'status', status: 405, times: Infinity });
  const { code, stderr, stdout } = await site.verify();
  expect(code).toBe(3);
  expect(stderr).toContain('nothing was compared');
  expect(stdout).toBe('');
});

test('nor one that may not be asked', async () => {
  const site = await createSite({}, {}, 'auto');
  const config = {
    platform: {
      botId: 'bot-1',
      baseUrl: site.emulator.baseUrl,
      token: 'env:BOTSYNC_TOKEN',
      operations: 'specified',
    },
    sources: [{ directory: './docs' }],
  };
  site.write('botsync.config.json', JSON.stringify(config));
  const { code, stderr } = await run(site.directory, ['verify'], site.env);
  expect(code).toBe(3);
  expect(stderr).toContain('platform.operations is "specified"');
});
