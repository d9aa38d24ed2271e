import { expect, test } from 'vitest';
import {
  createDaemonWorld,
  plant,
  removedKeys,
  type DaemonWorld,
  type RunningDaemon,
} from '../daemon-world.ts';
import { putAs } from '../others.ts';

const MINUTE = 60_000;

/** A world whose daemons delete, and ask what is there. */
async function deletingWorld(): Promise<DaemonWorld> {
  const world = await createDaemonWorld({
    platform: { operations: 'auto' },
    removals: { mode: 'delete', delay: '1m' },
    watch: { rescan: '5m' },
  });
  plant(world, 4);
  return world;
}

const problemsOf = ({ events }: RunningDaemon): string[] =>
  events.flatMap(({ kind, path }) => (kind === 'problem' ? [path] : []));

test('one that somebody replaced is left alone, and told once whatever comes', async () => {
  const world = await deletingWorld();
  const running = await world.start();
  await putAs(world, 'f1.md', 'FILE 1');
  world.remove('docs/f1.md');
  await world.until(() => problemsOf(running).length > 0, 'it is told');
  await world.wait(12 * MINUTE);
  await world.until(() => running.passes.length > 2, 'two rescans');
  expect(problemsOf(running)).toEqual(['f1.md']);
  expect(running.passes.at(-1)).toMatchObject({ exitCode: 0, summary: { problems: 0, kept: 0 } });
  expect(removedKeys(running)).toEqual([]);
  expect(world.remote('f1.md')).toBe('FILE 1');
});

test('one that is back while it is deleted is there in the end', async () => {
  const world = await deletingWorld();
  const running = await world.start();
  world.emulator.faults.add({ operation: 'delete-file', kind: 'hang' });
  world.move('docs/f1.md', 'aside');
  await world.until(() => world.emulator.counts.get('delete-file') === 1, 'its deletion arrives');
  world.move('aside', 'docs/f1.md');
  await world.wait(5000, 100);
  world.emulator.faults.clear();
  await world.until(() => removedKeys(running).length === 1, 'it is deleted');
  await world.until(() => world.remote('f1.md') === 'file 1', 'it is back');
  await world.wait(6 * MINUTE);
  expect(world.keys()).toEqual(['f0.md', 'f1.md', 'f2.md', 'f3.md']);
});

test('after an outage in the midst of deletions all of them are made, and no other', async () => {
  const world = await deletingWorld();
  const running = await world.start();
  world.emulator.faults.add({ operation: 'delete-file', kind: 'apply-then-drop', times: 2 });
  for (const path of ['f1.md', 'f2.md']) world.remove(`docs/${path}`);
  await world.until(() => (world.emulator.counts.get('delete-file') ?? 0) > 1, 'deletions arrive');
  await world.emulator.conditions.set({ kind: 'refused' });
  await world.wait(2 * MINUTE);
  await world.emulator.conditions.clear();
  await world.until(() => removedKeys(running).length === 2, 'both are deleted');
  expect(removedKeys(running)).toEqual(['f1.md', 'f2.md']);
  expect(world.keys()).toEqual(['f0.md', 'f3.md']);
});
