import { describe, expect, test } from 'vitest';
import { createWorld, type World } from '../world.ts';

const source = (fields: object): object => ({ directory: './docs', ...fields });

/** Files of one size and time could be one another's former name. */
async function syncedWorld(files: number, removals: object = {}): Promise<World> {
  const world = await createWorld({ sources: [source({ keyPrefix: 'kb/' })], removals });
  for (let i = 0; i < files; i++) world.write(`docs/f${i}.md`, 'x'.repeat(i + 1));
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: files } });
  return world;
}

describe('a source whose keys or bot were changed', () => {
  test.each([
    [{ keyPrefix: 'kb2/' }, 'sources[0].keyPrefix kb/ → kb2/'],
    [{}, 'sources[0].keyPrefix kb/ → ""'],
    [{ keyPrefix: 'kb/', botId: 'bot-2' }, 'sources[0].botId bot-1 → bot-2'],
  ])('is halted before all of it is sent again: %j', async (fields, change) => {
    const world = await syncedWorld(12);
    world.configure({ sources: [source(fields)] });
    for (let pass = 0; pass < 2; pass++)
      expect(await world.pass()).toMatchObject({ exitCode: 5, requests: 0, summary: { uploaded: 0 } });
    expect(world.status().sources[0]?.halted).toBe(`12 of 12 files would get new keys (${change})`);
    expect(await world.plan()).toMatchObject({ exitCode: 5 });
    expect(await world.pass({ allowRemovals: true })).toMatchObject({
      exitCode: 0,
      summary: { uploaded: 12 },
    });
    expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { unchanged: 12 } });
  });

  test('goes on by itself when the change is taken back', async () => {
    const world = await syncedWorld(12);
    world.configure({ sources: [source({ keyPrefix: 'kb2/' })] });
    expect(await world.pass()).toMatchObject({ exitCode: 5 });
    world.configure({ sources: [source({ keyPrefix: 'kb/' })] });
    expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { unchanged: 12 } });
  });

  test('is sent at once where it has ten files or fewer', async () => {
    const world = await syncedWorld(10);
    world.configure({ sources: [source({ keyPrefix: 'kb2/' })] });
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 10, kept: 10 } });
  });

  test('keeps what it had under its old keys, or removes it, by removals.mode', async () => {
    const kept = await syncedWorld(12);
    kept.configure({ sources: [source({ keyPrefix: 'kb2/' })] });
    expect(await kept.pass({ allowRemovals: true })).toMatchObject({ summary: { kept: 12, removed: 0 } });
    expect(kept.keys()).toHaveLength(24);

    const removals = { mode: 'expire' };
    const removed = await syncedWorld(12, removals);
    removed.configure({ sources: [source({ keyPrefix: 'kb2/' })], removals });
    expect(await removed.pass({ allowRemovals: true })).toMatchObject({
      exitCode: 0,
      summary: { uploaded: 12, removed: 12 },
    });
    expect(removed.remote('kb/f0.md')).toBe('');
    expect(removed.remote('kb2/f0.md')).toBe('x');
    expect(await removed.pass()).toMatchObject({ exitCode: 0, requests: 0 });
  });

  test('keeps the old keys of files that could not be sent under their new ones', async () => {
    const removals = { mode: 'expire' };
    const world = await syncedWorld(12, removals);
    world.configure({ sources: [source({ keyPrefix: 'kb2/' })], removals, upload: { attempts: 1 } });
    world.fail('upsert', 413);
    await world.pass({ allowRemovals: true });
    const old = world.keys().filter((key) => key.startsWith('kb/') && world.remote(key) !== '');
    expect(old).toHaveLength(1);
  });
});
