import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type RelativePath, fileKey } from '../../../src/domain/key.ts';
import { haltDigest, type Halt } from '../../../src/domain/guard.ts';
import { markOf } from '../../../src/domain/mark.ts';
import { bind, NO_MOUNTS, unmount } from '../../mounts.ts';
import { noteOrphans, sourcesOf } from '../prune-world.ts';
import { createVerifyWorld, type VerifyWorld } from '../verify-world.ts';
import { deleteAs, putAs } from '../others.ts';

const MARK = markOf(createHash('sha256').update('x').digest(), 'docs');

/** Puts files on the platform that carry our mark and are not on record, as an older state file leaves them. */
async function putOrphans(world: VerifyWorld, keys: readonly string[]): Promise<void> {
  for (const key of keys) await putAs(world, key, 'x', { metadata: { botsync: MARK } });
}

/** A world with a file of its own that is in sync, and orphans that are to be removed. */
async function orphanWorld(
  orphans: readonly string[],
  fields: Record<string, unknown> = {},
): Promise<VerifyWorld> {
  const world = await createVerifyWorld(fields);
  world.write('docs/a.md', 'a');
  await world.pass();
  await putOrphans(world, orphans);
  expect(await noteOrphans(world)).toEqual(orphans);
  return world;
}

const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `o${String(i).padStart(2, '0')}.md`);

/** Notes orphans that nobody has seen yet. */
function noteLater(world: VerifyWorld, keys: readonly string[]): void {
  const state = world.open();
  const [source] = sourcesOf(world);
  if (source === undefined) throw new Error('no source');
  const target = state.targetId(source.syncTarget);
  for (const path of keys) {
    const orphan = {
      source: 'docs',
      path,
      remoteId: `id of ${path}`,
      sizeBytes: 1,
      sha256: Buffer.alloc(32),
    };
    state.removals.noteOrphan({ target, key: fileKey('', path as RelativePath) }, orphan, world.clock.now());
  }
  state.close();
}

/** What halts the source of a world, as it is stored. */
function haltOf(world: VerifyWorld): Halt | null {
  const state = world.open();
  const halt = state.source('docs')?.halt ?? null;
  state.close();
  return halt;
}

describe('orphans that are to be removed', () => {
  test.each(['keep', 'expire', 'delete'])('go in mode "%s", and count as removals', async (mode) => {
    const world = await orphanWorld(['o1.md', 'o2.md'], { removals: { mode } });
    const planned = await world.plan();
    expect(planned).toMatchObject({ exitCode: 0, summary: { removed: 2 } });
    const pass = await world.pass();
    expect(pass).toMatchObject({ exitCode: 0, summary: { removed: 2 } });
    expect(pass.events[0]).toMatchObject({ kind: 'remove', reason: 'orphan', outcome: 'done' });
    expect(world.keys()).toEqual(['a.md']);
    const state = world.open();
    expect(state.countRemovals('docs', 0)).toBe(2);
  });

  test.each(['keep', 'delete'])(
    'are a halt in mode "%s" when they are many, of which exactly those are approved that it names',
    async (mode) => {
      const world = await orphanWorld(numbered(12), { removals: { mode } });
      expect(await world.plan()).toMatchObject({ exitCode: 5, summary: { toRemove: 12, removed: 0 } });
      for (let pass = 0; pass < 2; pass++)
        expect(await world.pass()).toMatchObject({ exitCode: 5, requests: 0, summary: { toRemove: 12 } });
      const halt = haltOf(world);
      expect(halt).toMatchObject({ kind: 'mass-removal', atStake: { count: 12, first: numbered(10) } });
      expect(world.status().sources[0]).toMatchObject({ toRemove: 12, kept: 0 });
      // Others that are found later are another halt.
      world.clock.advance(1000);
      const later = numbered(40).map((name) => `later-${name}`);
      noteLater(world, later);
      await world.pass();
      expect(haltDigest(haltOf(world) as Halt)).not.toBe(haltDigest(halt as Halt));
      const approved = await world.pass({ approved: () => halt });
      expect(approved).toMatchObject({ exitCode: 5, summary: { removed: 12, toRemove: 40 } });
      expect(world.keys()).toEqual(['a.md']);
    },
  );

  test('stay where their file is there again, which is sent', async () => {
    const world = await orphanWorld(['o1.md']);
    world.write('docs/o1.md', 'y');
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1, removed: 0 } });
    expect(world.remote('o1.md')).toBe('y');
  });

  test('stay where they are ignored here, and where somebody replaced them', async () => {
    const world = await orphanWorld(['o1.md', 'o2.md']);
    await deleteAs(world, 'o2.md');
    await putAs(world, 'o2.md', 'theirs');
    world.configure({ sources: [{ directory: './docs', ignore: ['o1.md'] }] });
    expect(await world.pass()).toMatchObject({ summary: { removed: 0, kept: 1, problems: 1 } });
    expect(world.keys()).toEqual(['a.md', 'o1.md', 'o2.md']);
    expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { kept: 1 } });
  });

  test('are held back while a part of the source cannot be read', async () => {
    const sources = [{ directory: './docs', symlinks: 'follow' }];
    const world = await orphanWorld(['o1.md', 'sub/o2.md'], { sources });
    symlinkSync('nowhere', world.at('docs/dangling'));
    const held = await world.pass();
    expect(held).toMatchObject({ exitCode: 3, summary: { removed: 0, toRemove: 2 } });
    expect(held.warned).toContainEqual(expect.stringContaining('a part of the source could not be read'));
    world.remove('docs/dangling');
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 2 } });
  });

  test.each([
    ['an empty one', [], 'emptied'],
    ['another one', ['z.md'], 'replaced'],
  ] as const)(
    'are held back where the directory is %s since an older state file was written',
    async (_what, there, kind) => {
      const world = await orphanWorld(['o1.md', 'o2.md']);
      const docs = world.at('docs');
      renameSync(docs, `${docs}.away`);
      mkdirSync(docs);
      for (const path of there) world.write(`docs/${path}`, path);
      expect(await world.plan()).toMatchObject({ exitCode: 5 });
      expect(await world.pass()).toMatchObject({ exitCode: 5, requests: 0, summary: { removed: 0 } });
      expect(haltOf(world)).toMatchObject({ kind });
      // In the real one they are files like any others.
      rmSync(docs, { recursive: true });
      renameSync(`${docs}.away`, docs);
      for (const path of ['o1.md', 'o2.md']) world.write(`docs/${path}`, 'x');
      expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 0 } });
      expect(world.remote('o1.md')).toBe('x');
    },
  );

  test('below a directory without files are held back, however long it is empty, until somebody approves', async () => {
    const world = await orphanWorld(['sub/o1.md', 'sub/o2.md'], { removals: { delay: '1s' } });
    world.makeDirectory('docs/sub');
    expect(await world.plan()).toMatchObject({ exitCode: 5 });
    for (let pass = 0; pass < 2; pass++) {
      expect(await world.pass()).toMatchObject({ exitCode: 5, requests: 0, summary: { removed: 0 } });
      world.clock.advance(3_600_000);
    }
    const halt = haltOf(world);
    expect(halt).toMatchObject({ kind: 'mass-removal', excess: { kind: 'hidden', orphans: 2 } });
    expect(await world.pass({ approved: () => halt })).toMatchObject({
      exitCode: 0,
      summary: { removed: 2 },
    });
  });

  test('on a file system that is not mounted are held back', async (context) => {
    const world = await createVerifyWorld({ removals: { mode: 'keep' } });
    world.write('docs/a.md', 'a');
    const nas = world.at('docs/nas');
    const disk = world.at('disk');
    for (const directory of [nas, disk]) mkdirSync(directory);
    writeFileSync(join(disk, 'own.md'), 'own');
    // What lies below the mount is no sign of it.
    writeFileSync(join(nas, 'below.md'), 'below');
    if (!bind(disk, nas)) context.skip(NO_MOUNTS);
    await world.pass();
    await putOrphans(world, ['nas/o1.md', 'nas/o2.md']);
    unmount(nas);
    expect(readdirSync(nas)).toEqual(['below.md']);
    await noteOrphans(world);
    expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { removed: 0 } });
    expect(haltOf(world)).toMatchObject({ kind: 'mounts-changed' });
    expect(world.keys()).toContain('nas/o1.md');
  });
});
