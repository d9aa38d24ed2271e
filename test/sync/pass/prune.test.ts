import { describe, expect, test } from 'vitest';
import { pruneKept } from '../prune-world.ts';
import { createVerifyWorld, type VerifyWorld } from '../verify-world.ts';
import { deleteAs, putAs } from '../others.ts';

/** A world of which files named `k…` were deleted, and kept on the platform, beside `a.md`, which is there. */
async function keptWorld(
  kept: readonly string[],
  fields: Record<string, unknown> = {},
): Promise<VerifyWorld> {
  const world = await createVerifyWorld(fields);
  for (const path of ['a.md', ...kept]) world.write(`docs/${path}`, path);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: kept.length + 1 } });
  for (const path of kept) world.remove(`docs/${path}`);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { kept: kept.length } });
  return world;
}

/** Has the next pass remove what is kept. */
function mark(world: VerifyWorld): void {
  const state = world.open();
  pruneKept(world)(state);
  state.close();
}

const MANY = Array.from({ length: 12 }, (_, i) => `k${String(i).padStart(2, '0')}.md`);

describe('kept files that somebody prunes', () => {
  test.each(['keep', 'expire', 'delete'])('are removed in mode "%s", and no others', async (mode) => {
    const world = await keptWorld(['k1.md', 'k2.md']);
    world.configure({ removals: { mode } });
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { kept: 2, removed: 0 } });
    const pruned = await world.pass({ prepare: pruneKept(world, (path) => path === 'k1.md') });
    expect(pruned).toMatchObject({ exitCode: 0, summary: { kept: 1, removed: 1 } });
    expect(pruned.events).toEqual([
      expect.objectContaining({ kind: 'remove', path: 'k1.md', reason: 'pruned', outcome: 'done' }),
    ]);
    expect(world.keys()).toEqual(['a.md', 'k2.md']);
    expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { kept: 1 } });
  });

  test('are foretold by a dry run, and go however many they are, without counting for later removals', async () => {
    const world = await keptWorld(MANY);
    world.configure({ removals: { mode: 'delete', maxCount: 1 } });
    mark(world);
    const planned = await world.plan();
    expect(planned).toMatchObject({ exitCode: 0, summary: { removed: 12 } });
    expect(planned.events[0]).toMatchObject({ kind: 'remove', path: 'k00.md', reason: 'pruned' });
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 12 } });
    world.write('docs/b.md', 'b');
    await world.pass();
    world.remove('docs/b.md');
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
  });

  test('stay where they are in the directory again', async () => {
    const world = await keptWorld(['k1.md', 'k2.md']);
    const prepare = pruneKept(world);
    const pass = await world.pass({
      prepare: (state) => {
        prepare(state);
        world.write('docs/k1.md', 'k1.md');
      },
    });
    expect(pass).toMatchObject({ exitCode: 0, summary: { removed: 1, kept: 0 } });
    expect(world.remote('k1.md')).toBe('k1.md');
    expect(world.keys()).toEqual(['a.md', 'k1.md']);
    // What is there was never listed.
    world.write('docs/k2.md', 'new');
    expect(await world.pass({ prepare })).toMatchObject({
      exitCode: 0,
      summary: { uploaded: 1, removed: 0 },
    });
  });

  test('stay where another file has their key, or one of other spelling', async () => {
    const sources = [{ directory: './docs' }, { directory: './more', keyPrefix: 'm/' }];
    const world = await createVerifyWorld({ sources });
    for (const path of ['a.md', 'm/b.md', 'caf\u00e9.md']) world.write(`docs/${path}`, path);
    await world.pass();
    for (const path of ['m', 'caf\u00e9.md']) world.remove(`docs/${path}`);
    await world.pass();
    const prepare = pruneKept(world);
    const pass = await world.pass({
      prepare: (state) => {
        prepare(state);
        world.write('more/b.md', 'of more');
        world.write('docs/cafe\u0301.md', 'anew');
      },
    });
    expect(pass.summary.removed).toBe(0);
    expect(world.remote('m/b.md')).toBe('of more');
    expect(world.remote('caf\u00e9.md')).toBe('anew');
  });

  test('may be in the directory as long as they are ignored there', async () => {
    const world = await createVerifyWorld();
    for (const path of ['a.md', 'x.tmp.md', 'y.tmp.md']) world.write(`docs/${path}`, path);
    await world.pass();
    world.configure({ sources: [{ directory: './docs', ignore: ['*.tmp.md'] }] });
    expect(await world.pass()).toMatchObject({ summary: { kept: 2 } });
    expect(await world.pass({ prepare: pruneKept(world, (path) => path === 'x.tmp.md') })).toMatchObject({
      exitCode: 0,
      summary: { removed: 1, kept: 1 },
    });
    expect(world.keys()).toEqual(['a.md', 'y.tmp.md']);
    mark(world);
    world.configure({ sources: [{ directory: './docs' }] });
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1, removed: 0 } });
    expect(world.keys()).toEqual(['a.md', 'x.tmp.md', 'y.tmp.md']);
  });

  test('go under their old keys once the files are there under new ones', async () => {
    const world = await createVerifyWorld({ sources: [{ directory: './docs', keyPrefix: 'kb/' }] });
    for (const path of ['a.md', 'b.md']) world.write(`docs/${path}`, path);
    await world.pass();
    world.configure({ sources: [{ directory: './docs', keyPrefix: 'kb2/' }] });
    expect(await world.pass()).toMatchObject({ summary: { uploaded: 2, kept: 2 } });
    expect(await world.pass({ prepare: pruneKept(world) })).toMatchObject({
      exitCode: 0,
      summary: { removed: 2 },
    });
    expect(world.keys()).toEqual(['kb2/a.md', 'kb2/b.md']);
  });

  test('are left alone where somebody else replaced them, and done with where somebody else deleted them', async () => {
    const world = await keptWorld(['k1.md', 'k2.md']);
    await putAs(world, 'k1.md', 'theirs');
    await deleteAs(world, 'k2.md');
    const pass = await world.pass({ prepare: pruneKept(world) });
    expect(pass).toMatchObject({ exitCode: 3, summary: { removed: 1, problems: 1 } });
    expect(pass.events[0]?.reason).toMatch(/^left alone on the platform: somebody else replaced it/u);
    expect(world.remote('k1.md')).toBe('theirs');
    expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0 });
  });

  test('are left alone where the platform does not say whose they are, which is told once', async () => {
    const world = await keptWorld(['k1.md']);
    world.fail('get-file', 405, { times: Infinity });
    const pass = await world.pass({ prepare: pruneKept(world) });
    expect(pass).toMatchObject({ exitCode: 3, summary: { removed: 0, problems: 1 } });
    expect(world.remote('k1.md')).toBe('k1.md');
    expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { kept: 1 } });
    expect(await world.pass({ prepare: pruneKept(world) })).toMatchObject({ requests: 0 });
  });

  test('expire where nothing can be deleted', async () => {
    const world = await keptWorld(['k1.md', 'k2.md']);
    await putAs(world, 'k2.md', 'theirs');
    world.fail('delete-file', 405, { times: Infinity });
    await world.pass({ prepare: pruneKept(world) });
    expect(world.remote('k1.md')).toBe('');
    expect(world.remote('k2.md')).toBe('theirs');
  });
});
