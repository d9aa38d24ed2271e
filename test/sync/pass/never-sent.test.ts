import { expect, test } from 'vitest';
import { failed } from '../../../src/domain/failure.ts';
import type { FilePlatform } from '../../../src/domain/file-catalog.ts';
import { putAs } from '../others.ts';
import { createSyncedWorld, createWorld, numbered, refuseUpserts } from '../world.ts';
import { whenUpserted } from '../../when-upserted.ts';

test('a file of others is not touched for one of ours that never got through to the platform', async () => {
  const world = await createWorld({ removals: { mode: 'expire' } });
  world.write('docs/a.txt', 'a');
  world.write('docs/b.txt', 'b');
  await putAs(world, 'price.txt', 'precious');
  world.write('docs/price.txt', 'ours');
  refuseUpserts(world, 429, { key: 'price.txt' });
  expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { failed: 1 } });
  world.emulator.faults.clear();
  world.remove('docs/price.txt');
  expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { removed: 0, kept: 0 } });
  expect(world.remote('price.txt')).toBe('precious');
});

test('files for which a pause is not waited for are pending, not failed, and leave no trace', async () => {
  const world = await createWorld({ upload: { giveUpAfter: '2s', concurrency: 1 } });
  for (let n = 0; n < 10; n++) world.write(`docs/${n}`, 'x');
  refuseUpserts(world, 429, { headers: { 'retry-after': '3600' } });
  expect(await world.pass()).toMatchObject({ exitCode: 3, requests: 1, summary: { failed: 1, pending: 9 } });
  world.emulator.faults.clear();
  world.remove('docs/9');
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 9, kept: 0 } });
});

test('a file whose upload is put off after its upsert was taken is not taken for never sent', async () => {
  const world = await createWorld({ removals: { mode: 'expire' }, upload: { attempts: 1 } });
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}`, name);
  const platform = world.connect();
  const putsOff: FilePlatform = {
    ...whenUpserted(platform, () => undefined),
    upload: () =>
      Promise.resolve(
        failed({ kind: 'transient', message: 'a pause', notCarriedOut: true, postponed: true }),
      ),
  };
  expect(await world.pass({ platform: putsOff })).toMatchObject({ summary: { failed: 3, pending: 0 } });
  world.remove('docs/a');
  expect(await world.pass()).toMatchObject({ summary: { uploaded: 2, removed: 1 } });
});

test('removals for which a pause is not waited for are pending, and nobody waits', async () => {
  const world = await createSyncedWorld(numbered(12), {
    removals: { mode: 'expire' },
    upload: { giveUpAfter: '2s', concurrency: 1 },
  });
  for (let n = 0; n < 5; n++) world.remove(`docs/${n}`);
  refuseUpserts(world, 429, { headers: { 'retry-after': '3600' } });
  const beganMs = world.clock.monotonic();
  expect(await world.pass()).toMatchObject({ exitCode: 3, requests: 1, summary: { failed: 1, pending: 4 } });
  expect(world.clock.monotonic() - beganMs).toBeLessThan(10_000);
});
