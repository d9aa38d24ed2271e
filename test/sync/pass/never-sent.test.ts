import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { failed } from '../../../src/domain/failure.ts';
import type { FilePlatform } from '../../../src/domain/file-catalog.ts';
import type { Emulator } from '../../../src/emulator/emulator.ts';
import { whenUpserted } from '../../when-upserted.ts';
import { connectTo, createWorld, refuseUpserts } from '../world.ts';

/** Somebody else's file on the platform. */
async function putForeign(emulator: Emulator, key: string, content: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${emulator.token}`,
    'x-bot-id': 'bot-1',
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ key, size: content.length, contentType: 'text/plain' });
  const upserted = await fetch(`${emulator.baseUrl}/v1/files`, { method: 'PUT', headers, body });
  const { file } = (await upserted.json()) as { file: { uploadUrl: string } };
  const uploaded = await fetch(file.uploadUrl, {
    method: 'PUT',
    headers: { 'content-type': 'text/plain' },
    body: content,
  });
  expect(uploaded.status).toBe(200);
}

test('a file of others is not touched for one of ours that never got through to the platform', async () => {
  const world = await createWorld({ removals: { mode: 'expire' } });
  world.write('docs/a.txt', 'a');
  world.write('docs/b.txt', 'b');
  await putForeign(world.emulator, 'price.txt', 'precious');
  world.write('docs/price.txt', 'ours');
  refuseUpserts(world, 429, { key: 'price.txt' });
  expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { failed: 1 } });
  world.emulator.faults.clear();
  rmSync(join(world.directory, 'docs/price.txt'));
  expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { removed: 0, kept: 0 } });
  expect(world.remote('price.txt')).toBe('precious');
});

test('files for which a pause is not waited for are pending, not failed, and leave no trace', async () => {
  const world = await createWorld({ upload: { giveUpAfter: '2s', concurrency: 1 } });
  for (let n = 0; n < 10; n++) world.write(`docs/${n}`, 'x');
  refuseUpserts(world, 429, { headers: { 'retry-after': '3600' } });
  expect(await world.pass()).toMatchObject({ exitCode: 3, requests: 1, summary: { failed: 1, pending: 9 } });
  world.emulator.faults.clear();
  rmSync(join(world.directory, 'docs/9'));
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 9, kept: 0 } });
});

test('a file whose upload is put off after its upsert was taken is not taken for never sent', async () => {
  const world = await createWorld({ removals: { mode: 'expire' }, upload: { attempts: 1 } });
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}`, name);
  const { platform, close } = connectTo(world.emulator, world.config(), world.clock);
  onTestFinished(close);
  const putsOff: FilePlatform = {
    ...whenUpserted(platform, () => undefined),
    upload: () =>
      Promise.resolve(
        failed({ kind: 'transient', message: 'a pause', notCarriedOut: true, postponed: true }),
      ),
  };
  expect(await world.pass({ platform: putsOff })).toMatchObject({ summary: { failed: 3, pending: 0 } });
  rmSync(join(world.directory, 'docs/a'));
  expect(await world.pass()).toMatchObject({ summary: { uploaded: 2, removed: 1 } });
});

test('removals for which a pause is not waited for are pending, and nobody waits', async () => {
  const world = await createWorld({
    removals: { mode: 'expire' },
    upload: { giveUpAfter: '2s', concurrency: 1 },
  });
  for (let n = 0; n < 12; n++) world.write(`docs/${n}`, 'x');
  await world.pass();
  for (let n = 0; n < 5; n++) rmSync(join(world.directory, `docs/${n}`));
  refuseUpserts(world, 429, { headers: { 'retry-after': '3600' } });
  const beganMs = world.clock.monotonic();
  expect(await world.pass()).toMatchObject({ exitCode: 3, requests: 1, summary: { failed: 1, pending: 4 } });
  expect(world.clock.monotonic() - beganMs).toBeLessThan(10_000);
});
