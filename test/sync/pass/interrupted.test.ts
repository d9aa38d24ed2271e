import { expect, test } from 'vitest';
import type { FileEvent } from '../../../src/domain/report.ts';
import type { FileKey, RelativePath } from '../../../src/domain/key.ts';
import { createDaemonWorld } from '../daemon-world.ts';
import { createSyncedWorld, createWorld, type World } from '../world.ts';

/** Leaves files as a kill during their sending does: the intent is on record, and the content may be gone. */
async function interrupt(world: World, names: readonly string[], now: () => number): Promise<void> {
  const store = world.open();
  const { baseUrl } = world.config().platform;
  const target = store.targetId({ baseUrl, botId: 'bot-1', identity: '{}' });
  for (const name of names) {
    const record = store.find({ target, key: name as FileKey });
    if (record === null) throw new Error(`${name} is not on record`);
    const attempt = { ...record, sizeBytes: 1 };
    await store.beginSending({ target, key: name as FileKey }, 'docs', name as RelativePath, attempt, now());
  }
  store.close();
}

const upserted = ({ emulator }: World, from: number): (string | null)[] =>
  emulator.requests
    .slice(from)
    .filter(({ operation }) => operation === 'upsert')
    .map(({ key }) => key ?? null);

const NAMES = Array.from({ length: 200 }, (_, n) => `f${String(n).padStart(3, '0')}`);
const LAST = 'f199';

test('what a kill interrupted is sent before all else, and counted once', async () => {
  const world = await createWorld({ upload: { concurrency: 1 } });
  for (const name of NAMES) world.write(`docs/${name}`, name);
  await world.pass();
  await interrupt(world, [LAST], world.clock.now);
  for (const name of NAMES.slice(0, 100)) world.write(`docs/${name}`, `edited ${name}`);
  const before = world.emulator.requests.length;
  const { summary, events, exitCode } = await world.pass();
  expect(upserted(world, before)[0]).toBe(LAST);
  expect(upserted(world, before)).toHaveLength(101);
  expect(exitCode).toBe(0);
  expect(summary).toMatchObject({ uploaded: 101, unchanged: 99, failed: 0, pending: 0 });
  expect(events.filter(({ path }) => path === LAST)).toMatchObject([
    { kind: 'upload', reason: 'interrupted' },
  ]);
  expect(world.status().failures).toEqual([]);
});

test('the daemon does so as well', async () => {
  const world = await createDaemonWorld({ upload: { concurrency: 1 } });
  for (const name of [...NAMES.slice(0, 30), LAST]) world.write(`docs/${name}`, name);
  await (await world.start()).stop();
  await interrupt(world, [LAST], world.clock.now);
  for (const name of NAMES.slice(0, 20)) world.write(`docs/${name}`, `edited ${name}`);
  const before = world.emulator.requests.length;
  const { passes } = await world.start();
  expect(upserted(world, before)[0]).toBe(LAST);
  expect(passes[0]?.summary).toMatchObject({ uploaded: 21, unchanged: 10 });
});

test('one that fails again has its attempts once in a pass, and is counted once', async () => {
  const world = await createSyncedWorld(['a', 'b'], { upload: { attempts: 2 } });
  await interrupt(world, ['b'], world.clock.now);
  const fault = { operation: 'upsert', kind: 'status', status: 409, type: 'ResourceLockedConflict' } as const;
  world.emulator.faults.add({ ...fault, key: 'b', times: Infinity });
  const before = world.emulator.requests.length;
  expect(await world.pass()).toMatchObject({
    exitCode: 3,
    summary: { failed: 1, uploaded: 0, unchanged: 1 },
  });
  expect(upserted(world, before)).toEqual(['b', 'b']);
});

test('one that is gone, ignored, or gives its key to another source is left to the walk', async () => {
  const world = await createSyncedWorld(['gone', 'ignored', 'shared', 'stays'], {
    sources: [{ directory: './docs' }],
  });
  await interrupt(world, ['gone', 'ignored', 'shared', 'stays'], world.clock.now);
  world.write('first/shared', 'of the first');
  world.configure({
    sources: [
      { name: 'first', directory: './first' },
      { name: 'docs', directory: './docs', ignore: ['ignored'] },
    ],
  });
  world.remove('docs/gone');
  const before = world.emulator.requests.length;
  const { summary } = await world.pass();
  expect(upserted(world, before).sort()).toEqual(['shared', 'stays']);
  expect(world.remote('shared')).toBe('of the first');
  expect(summary).toMatchObject({ uploaded: 2, problems: 1 });
});

test('the directory of a first pass that was interrupted is known, and may lose most of its files', async () => {
  const world = await createWorld();
  for (const name of NAMES.slice(0, 20)) world.write(`docs/${name}`, name);
  const stopping = new AbortController();
  let sent = 0;
  const report = {
    event: ({ kind }: FileEvent) => {
      if (kind === 'upload' && ++sent === 12) stopping.abort();
    },
  };
  await world.pass({ report, stop: stopping.signal });
  for (const name of NAMES.slice(1, 20)) world.remove(`docs/${name}`);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 0 } });
});
