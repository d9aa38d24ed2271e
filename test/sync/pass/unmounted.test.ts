import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, type TestContext } from 'vitest';
import type { FilePlatform } from '../../../src/domain/file-catalog.ts';
import type { Halt } from '../../../src/domain/guard.ts';
import { bind, NO_MOUNTS, unmount } from '../../mounts.ts';
import { whenUpserted } from '../../when-upserted.ts';
import { createWorld, type World } from '../world.ts';

const EXPIRE = { removals: { mode: 'expire' } };

/** A source with a file of its own, and two on what is mounted at `nas`. */
async function mounted(
  context: TestContext,
  fields: Record<string, unknown> = EXPIRE,
): Promise<{ world: Awaited<ReturnType<typeof createWorld>>; nas: string; mountAgain: () => void }> {
  const world = await createWorld(fields);
  const disk = world.at('disk');
  const nas = world.at('docs/nas');
  world.write('docs/a.md', 'a');
  mkdirSync(disk);
  mkdirSync(nas);
  for (const name of ['b.md', 'c.md']) writeFileSync(join(disk, name), name);
  if (!bind(disk, nas)) context.skip(NO_MOUNTS);
  return { world, nas, mountAgain: () => bind(disk, nas) };
}

/** That a pass halts for a reason though the loss of mounts was approved. */
async function expectHalt(world: World, reason: string): Promise<void> {
  const atStake = { count: 2, first: ['nas/b.md', 'nas/c.md'], digest: '' };
  const onlyMounts: Halt = {
    kind: 'mounts-changed',
    directory: '/d',
    mounts: [{ place: 'nas', isMounted: false }],
    atStake,
  };
  expect(await world.pass({ approved: () => onlyMounts })).toMatchObject({
    exitCode: 5,
    summary: { removed: 0 },
  });
  expect(world.status().sources[0]?.halted).toContain(reason);
}

describe('what is mounted below a source', () => {
  test('and is unmounted is no deletion: the source halts until it is there again', async (context) => {
    const { world, nas, mountAgain } = await mounted(context);
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 3 } });
    unmount(nas);
    for (let pass = 0; pass < 2; pass++) {
      expect(await world.pass()).toMatchObject({ exitCode: 5, requests: 0, summary: { removed: 0 } });
      expect(world.status().sources[0]?.halted).toBe(`no longer mounted: ${nas}`);
    }
    expect((await world.plan()).exitCode).toBe(5);
    mountAgain();
    expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { unchanged: 3 } });
    expect(world.status().sources[0]?.halted).toBeNull();
  });

  test('and is unmounted for good is removed once someone has looked', async (context) => {
    const { world, nas } = await mounted(context);
    await world.pass();
    unmount(nas);
    expect(await world.pass({ allowRemovals: true })).toMatchObject({ exitCode: 0, summary: { removed: 2 } });
    expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { unchanged: 1 } });
  });

  test('and is unmounted while a pass is under way is no deletion either', async (context) => {
    const { world, nas } = await mounted(context);
    await world.pass();
    world.write('docs/a.md', 'edited');
    world.emulator.faults.add({ operation: 'upload', kind: 'delay', delayMs: 1, times: 1 });
    const ended = await world.pass({
      report: {
        // The walk is past it by now; removals come after.
        event: () => {
          unmount(nas);
        },
      },
    });
    expect(ended.summary.removed).toBe(0);
    expect(world.keys()).toEqual(['a.md', 'nas/b.md', 'nas/c.md']);
  });

  test('and holds nothing of ours may go', async (context) => {
    const { world, nas } = await mounted(context, {
      ...EXPIRE,
      sources: [{ directory: './docs', ignore: ['nas/'] }],
    });
    await world.pass();
    unmount(nas);
    expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { unchanged: 1 } });
  });

  test('and holds no file of ours may go as well', async (context) => {
    const { world, nas } = await mounted(context);
    for (const name of ['b.md', 'c.md']) rmSync(join(nas, name));
    await world.pass();
    unmount(nas);
    expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { unchanged: 1 } });
  });

  test('may go where nothing is ever removed', async (context) => {
    const { world, nas } = await mounted(context, {});
    await world.pass();
    unmount(nas);
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { unchanged: 1, kept: 2 } });
  });

  test('and comes during a pass is known from then on', async (context) => {
    const { world, nas, mountAgain } = await mounted(context);
    unmount(nas);
    // The time is asked for when the walk is at the first file.
    const platform = world.connect();
    let isMounted = false;
    const mountsMeanwhile: FilePlatform = {
      ...whenUpserted(platform, () => undefined),
      now: () => {
        if (!isMounted) mountAgain();
        isMounted = true;
        return platform.now();
      },
    };
    expect((await world.pass({ platform: mountsMeanwhile })).summary.uploaded).toBe(3);
    unmount(nas);
    expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { removed: 0 } });
  });

  test('an approval of its loss is for nothing else that is missing', async (context) => {
    const { world, nas } = await mounted(context, { removals: { mode: 'expire', maxCount: 3 } });
    for (let n = 0; n < 5; n++) world.write(`docs/${n}`, 'x');
    await world.pass();
    unmount(nas);
    for (let n = 0; n < 5; n++) world.remove(`docs/${n}`);
    await expectHalt(world, '5 of 8 files would be removed');
  });

  test('an approval of its loss is not for a root that is another directory as well', async (context) => {
    const { world, nas } = await mounted(context);
    for (let n = 0; n < 5; n++) world.write(`docs/${n}`, 'x');
    await world.pass();
    unmount(nas);
    world.move('docs', 'away');
    world.write('docs/README', 'not mounted');
    await expectHalt(world, 'not the same directory');
  });

  test('and was lost while nothing was removed keeps its files on the platform when that changes', async (context) => {
    const { world, nas } = await mounted(context, {});
    await world.pass();
    unmount(nas);
    await world.pass();
    world.configure(EXPIRE);
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 0, kept: 2 } });
  });

  test('and was lost between a pass that removes nothing and one that does halts the source', async (context) => {
    const { world, nas } = await mounted(context, {});
    await world.pass();
    unmount(nas);
    world.configure(EXPIRE);
    expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { removed: 0 } });
  });

  test.for([{}, EXPIRE])('and is ignored may go during a pass, with %j', async (fields, context) => {
    const { world, nas } = await mounted(context, {
      ...fields,
      sources: [{ directory: './docs', ignore: ['nas/'] }],
    });
    const platform = world.connect();
    const unmountsMeanwhile = whenUpserted(platform, () => {
      unmount(nas);
    });
    expect(await world.pass({ platform: unmountsMeanwhile })).toMatchObject({ exitCode: 0 });
  });
});

describe('a file system that is mounted over files of a source', () => {
  /** A source with a file of its own, and five in `sub`; `cover` mounts something else over that. */
  async function covered(
    context: TestContext,
    names: readonly string[],
  ): Promise<{ world: Awaited<ReturnType<typeof createWorld>>; sub: string; cover: () => void }> {
    const world = await createWorld(EXPIRE);
    const [disk, sub] = [world.at('disk'), world.at('docs/sub')];
    world.write('docs/a.md', 'a');
    for (let n = 0; n < 5; n++) world.write(`docs/sub/${n}.md`, `file ${n}`);
    mkdirSync(disk);
    for (const name of names) writeFileSync(join(disk, name), `file ${name[0] ?? ''}`);
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 6 } });
    const cover = (): void => {
      if (!bind(disk, sub)) context.skip(NO_MOUNTS);
    };
    return { world, sub, cover };
  }

  test('halts the source until it is gone again', async (context) => {
    const { world, sub, cover } = await covered(context, ['other.md']);
    cover();
    for (let pass = 0; pass < 2; pass++)
      expect(await world.pass()).toMatchObject({ exitCode: 5, requests: 0, summary: { removed: 0 } });
    expect(world.status().sources[0]).toMatchObject({
      halted: `newly mounted over files of the source: ${sub}`,
      halt: { files: 5, first: ['sub/0.md', 'sub/1.md', 'sub/2.md', 'sub/3.md', 'sub/4.md'] },
    });
    expect((await world.plan()).exitCode).toBe(5);
    unmount(sub);
    expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { unchanged: 6 } });
  });

  test('is taken for granted once somebody has approved it', async (context) => {
    const { world, cover } = await covered(context, ['other.md']);
    cover();
    expect(await world.pass({ allowRemovals: true })).toMatchObject({
      exitCode: 0,
      summary: { removed: 5, uploaded: 1 },
    });
    expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { unchanged: 2 } });
  });

  test('is no trouble where it has most of the files', async (context) => {
    const { world, cover } = await covered(context, ['0.md', '1.md', '2.md']);
    cover();
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 2 } });
  });

  test('while a pass is under way removes nothing', async (context) => {
    const { world, cover } = await covered(context, ['other.md']);
    world.write('docs/z.md', 'z');
    world.remove('docs/a.md');
    const platform = world.connect();
    expect((await world.pass({ platform: whenUpserted(platform, cover) })).summary.removed).toBe(0);
    expect((await world.pass()).exitCode).toBe(5);
    expect(world.keys()).toContain('sub/0.md');
  });
});

describe('a directory of which all files are gone at once', () => {
  const SWAPPED = { removals: { mode: 'expire', delay: '10m' } };

  /** Eight files in `sub`, in whose place an empty directory stands then. */
  async function swapped(): Promise<Awaited<ReturnType<typeof createWorld>>> {
    const world = await createWorld(SWAPPED);
    world.write('docs/a.md', 'a');
    for (let n = 0; n < 8; n++) world.write(`docs/sub/deep/${n}.md`, `file ${n}`);
    await world.pass();
    world.move('docs/sub', 'away');
    world.makeDirectory('docs/sub');
    return world;
  }

  test('and which is there waits for a second look', async () => {
    const world = await swapped();
    expect((await world.plan()).summary).toMatchObject({ removed: 0, toRemove: 8 });
    const first = await world.pass();
    expect(first).toMatchObject({ exitCode: 0, summary: { removed: 0, toRemove: 8 } });
    expect(first.warned.join()).toContain(
      'docs/sub is empty now: a pass that still finds it empty after removals.delay removes 8 files',
    );
    world.clock.advance(5 * 60_000);
    expect((await world.pass()).summary).toMatchObject({ removed: 0, toRemove: 8 });
    world.clock.advance(6 * 60_000);
    expect((await world.plan()).summary).toMatchObject({ removed: 8, toRemove: 0 });
    expect((await world.pass()).summary).toMatchObject({ removed: 8, toRemove: 0 });
  });

  test('and whose files are back by then has lost none', async () => {
    const world = await swapped();
    await world.pass();
    world.remove('docs/sub');
    world.move('away', 'docs/sub');
    world.clock.advance(11 * 60_000);
    expect(await world.pass()).toMatchObject({ requests: 0, summary: { unchanged: 9, toRemove: 0 } });
  });

  test('goes at once with them if it went as well', async () => {
    const world = await swapped();
    world.remove('docs/sub');
    expect((await world.plan()).summary).toMatchObject({ removed: 8, toRemove: 0 });
    expect((await world.pass()).summary).toMatchObject({ removed: 8, toRemove: 0 });
  });
});
