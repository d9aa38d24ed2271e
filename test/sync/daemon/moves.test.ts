import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../files/watch-fixture.ts';
import { toldOf } from '../../files/told-of.ts';
import { createDaemonWorld, plant, removedKeys, requestsFor, startDaemon } from '../daemon-world.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

const EXPIRE = { mode: 'expire', delay: '10s' };

/** More files than are in hand at a time, of those that are in no hurry. */
const MORE_THAN_IN_HAND = 300;

describe('a moved file goes under its old key no sooner than it is there under its new one, also when', () => {
  test('its new place does not stand still yet', async () => {
    const world = await createDaemonWorld({
      removals: EXPIRE,
      // No rescan comes to the rescue.
      watch: { settle: '1m', maxDelay: '1h', rescan: '24d' },
    });
    plant(world, 3);
    world.makeDirectory('away');
    const docs = world.at('docs');
    const away = world.at('away/f1.md');
    const running = await world.start();
    await toldOf(docs, 'f1.md', () => {
      renameSync(join(docs, 'f1.md'), away);
    });
    await world.clock.advance(50 * SECOND);
    await toldOf(docs, 'z.md', () => {
      renameSync(away, join(docs, 'z.md'));
    });
    await world.clock.advance(12 * SECOND);
    await eventually(() => world.status().sources[0]?.toRemove === 1, 'it is missed');
    await world.wait(40 * SECOND);
    expect(removedKeys(running)).toEqual([]);
    expect(world.remote('f1.md')).toBe('file 1');
    await world.until(() => removedKeys(running).length === 1, 'the old key is put away');
    expect(world.remote('z.md')).toBe('file 1');
    expect(running.passes).toHaveLength(1);
  });

  test('hundreds of files come before its new place', async () => {
    const { world, running } = await startDaemon(3, {
      removals: EXPIRE,
      watch: { rescan: '24d' },
      upload: { concurrency: 2, stallTimeout: '1h' },
    });
    world.emulator.faults.add({ operation: 'upsert', kind: 'hang' });
    const before = requestsFor(world, 'upsert');
    for (let i = 0; i < MORE_THAN_IN_HAND; i++) world.write(`next/b${i}.md`, `one of many, number ${i}`);
    world.move('next', 'docs/bulk');
    await world.until(() => requestsFor(world, 'upsert') > before, 'the many are under way');
    world.makeDirectory('docs/sub');
    world.move('docs/f1.md', 'docs/sub/f1.md');
    await world.until(() => world.status().sources[0]?.toRemove === 1, 'it is missed');
    await world.until(() => running.daemon.activity.queued === 1, 'its new place waits');
    await world.wait(2 * MINUTE, 5 * SECOND);
    expect(removedKeys(running)).toEqual([]);
    expect(world.remote('f1.md')).toBe('file 1');
    world.emulator.faults.clear();
    await world.until(() => removedKeys(running).length === 1, 'the old key is put away');
    expect(world.remote('sub/f1.md')).toBe('file 1');
    expect(running.passes).toHaveLength(1);
  });

  test('it was moved once more before it could be sent', async () => {
    const world = await createDaemonWorld({
      removals: EXPIRE,
      watch: { settle: '1m', maxDelay: '2m', rescan: '24d' },
    });
    plant(world, 3);
    const docs = world.at('docs');
    const running = await world.start();
    world.fail('upsert', 503, { key: 'y.md', headers: { 'retry-after': '900' } });
    const before = requestsFor(world, 'upsert');
    await toldOf(docs, 'y.md', () => {
      renameSync(join(docs, 'f1.md'), join(docs, 'y.md'));
    });
    await world.until(() => requestsFor(world, 'upsert') > before, 'it is tried under its second name');
    await world.wait(14.5 * MINUTE, 5 * SECOND);
    await toldOf(docs, 'z.md', () => {
      renameSync(join(docs, 'y.md'), join(docs, 'z.md'));
    });
    let wasThere: boolean | null = null;
    for (let i = 0; i < 600 && wasThere === null; i++) {
      await world.wait(SECOND, 100);
      if (removedKeys(running).length > 0) wasThere = world.remote('z.md') !== null;
    }
    expect(wasThere).toBe(true);
  });
});
