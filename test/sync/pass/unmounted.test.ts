import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, type TestContext } from 'vitest';
import { bind, NO_MOUNTS, unmount } from '../../mounts.ts';
import { createWorld, type World } from '../world.ts';

const EXPIRE = { removals: { mode: 'expire' } };

/** A source with a file of its own, and two on what is mounted at `nas`. */
async function mounted(
  context: TestContext,
  fields: Record<string, unknown> = EXPIRE,
): Promise<{ world: World; nas: string; mountAgain: () => void }> {
  const world = await createWorld(fields);
  const disk = join(world.directory, 'disk');
  const nas = join(world.directory, 'docs/nas');
  world.write('docs/a.md', 'a');
  mkdirSync(disk);
  mkdirSync(nas);
  for (const name of ['b.md', 'c.md']) writeFileSync(join(disk, name), name);
  if (!bind(disk, nas)) context.skip(NO_MOUNTS);
  return { world, nas, mountAgain: () => bind(disk, nas) };
}

describe('what is mounted below a source', () => {
  test('and is unmounted is no deletion: the source halts until it is there again', async (context) => {
    const { world, nas, mountAgain } = await mounted(context);
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 3 } });
    unmount(nas);
    for (let pass = 0; pass < 2; pass++) {
      expect(await world.pass()).toMatchObject({ exitCode: 5, requests: 0, summary: { removed: 0 } });
      expect(world.status().sources[0]?.halted).toBe(
        `${nas}: what was mounted there is not mounted any more`,
      );
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
        warn: () => undefined,
        sent: () => undefined,
        retrying: () => undefined,
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

  test('may go where nothing is ever removed', async (context) => {
    const { world, nas } = await mounted(context, {});
    await world.pass();
    unmount(nas);
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { unchanged: 1, kept: 2 } });
  });
});
