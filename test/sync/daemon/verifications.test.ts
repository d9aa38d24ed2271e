import { expect, test } from 'vitest';
import type { FileKey } from '../../../src/domain/key.ts';
import {
  createDaemonWorld,
  plant,
  sentPaths,
  type DaemonWorld,
  type RunningDaemon,
} from '../daemon-world.ts';
import { deleteAs, putAs } from '../others.ts';

const HOUR_MS = 3_600_000;

async function begin(verify: Record<string, unknown> = {}): Promise<DaemonWorld> {
  const world = await createDaemonWorld({
    platform: { operations: 'auto' },
    verify: { every: '2h', ...verify },
    watch: { rescan: '7d' },
  });
  plant(world, 3);
  return world;
}

/** Starts a daemon, and lets the platform say what became of the files: what is lost from then on only a verification finds. */
async function startConfirmed(world: DaemonWorld): Promise<RunningDaemon> {
  const daemon = await world.start();
  const confirmed = (): number => daemon.events.filter(({ kind }) => kind === 'confirm').length;
  await world.until(() => confirmed() === 3, 'all are confirmed');
  return daemon;
}

const verifications = ({ told }: RunningDaemon): string[] => told.filter((one) => one.startsWith('verified'));

test('the first comes soon after the first pass, the next every so often, a restart begins none anew', async () => {
  const world = await begin();
  const first = await world.start();
  expect(verifications(first)).toEqual([]);
  await world.wait(11 * 60_000, 10_000);
  await world.until(() => verifications(first).length === 1, 'the first verification');
  expect(verifications(first)).toEqual(['verified 3 of 3']);
  await first.stop();
  const second = await world.start();
  await world.wait(HOUR_MS, 30_000);
  expect(verifications(second)).toEqual([]);
  await world.wait(HOUR_MS + 120_000, 30_000);
  await world.until(() => verifications(second).length === 1, 'the next verification');
});

test('what is lost is sent again, what others put there is left alone', async () => {
  const world = await begin();
  const daemon = await startConfirmed(world);
  await deleteAs(world, 'f0.md');
  await putAs(world, 'f1.md', 'theirs');
  await world.wait(11 * 60_000, 10_000);
  await world.until(() => sentPaths(daemon).length === 4, 'it is sent again');
  expect(world.remote('f0.md')).toBe('file 0');
  expect(sentPaths(daemon).sort()).toEqual(['f0.md', 'f0.md', 'f1.md', 'f2.md']);
  expect(world.remote('f1.md')).toBe('theirs');
  expect(daemon.told).toContain('found missing f0.md');
  expect(daemon.told).toContain('found replaced f1.md');
  await world.until(() => world.status().failures.length === 1, 'the end of it is on record');
  const { failures, lastVerification } = world.status();
  expect(failures).toMatchObject([{ path: 'f1.md', kind: 'failed' }]);
  expect(lastVerification).toMatchObject({ compared: 3, same: 1, reasons: { missing: 1, replaced: 1 } });
});

test('nothing is put right where that is not wanted', async () => {
  const world = await begin({ repair: false });
  const daemon = await startConfirmed(world);
  await deleteAs(world, 'f0.md');
  await world.wait(11 * 60_000, 10_000);
  await world.until(() => verifications(daemon).length === 1, 'the verification');
  await world.wait(60_000, 10_000);
  expect(daemon.told).toContain('found missing f0.md');
  expect(world.remote('f0.md')).toBeNull();
});

test('none is made where none is wanted', async () => {
  const world = await begin({ every: null });
  const daemon = await startConfirmed(world);
  const before = world.emulator.counts.get('list-files');
  await world.wait(3 * HOUR_MS, 60_000);
  expect(verifications(daemon)).toEqual([]);
  expect(world.emulator.counts.get('list-files')).toBe(before);
});

test('one that somebody asks for comes at once and repairs, also where none is wanted otherwise', async () => {
  const world = await begin({ every: null, repair: false });
  const daemon = await startConfirmed(world);
  await deleteAs(world, 'f0.md');
  daemon.daemon.repair();
  await world.until(() => world.remote('f0.md') === 'file 0', 'it is sent again');
  expect(verifications(daemon)).toEqual(['verified 2 of 3']);
});

test('one that fails is made again within the hour, and told', async () => {
  const world = await begin();
  const daemon = await startConfirmed(world);
  const { faults } = world.emulator;
  faults.add({ operation: 'list-files', kind: 'status', status: 400, times: 1 });
  await world.wait(12 * 60_000, 10_000);
  await world.until(() => daemon.told.some((one) => one.includes('could not be compared')), 'it is told');
  expect(verifications(daemon)).toEqual([]);
  await world.wait(HOUR_MS + 120_000, 30_000);
  await world.until(() => verifications(daemon).length === 1, 'it is made again');
});

test('what was not known of a file is filled in', async () => {
  const world = await begin();
  // As one that asks nothing sent them.
  world.configure({ platform: { operations: 'specified' } });
  await (await world.start()).stop();
  world.configure({ platform: { operations: 'auto' } });
  const daemon = await world.start();
  await world.wait(11 * 60_000, 10_000);
  await world.until(() => verifications(daemon).length === 1, 'the verification');
  await daemon.stop();
  const file = world.open().find({ target: 1, key: 'f0.md' as FileKey });
  expect(file).toMatchObject({ verdict: 'stored', isMarked: true });
  expect(file?.remoteId).toMatch(/^file_/u);
});
