import { expect, test } from 'vitest';
import type { StateStore } from '../../../src/store/state-store.ts';
import { WorkingCopy } from '../../../src/store/working-copy.ts';
import { createDaemonWorld, plant, requestsFor } from '../daemon-world.ts';
import { createWorld } from '../world.ts';

const CONCURRENCY = 4;
const FILES = 200;

/** A working copy, and how many files were being sent at most when something was shipped. */
function watchedCopy(): { readonly state: StateStore; readonly most: () => number } {
  const copy = new WorkingCopy(':memory:');
  const sending = copy.database.prepare("SELECT count(*) AS files FROM file WHERE state = 'sending'");
  let most = 0;
  const state = copy.begin(() => {
    most = Math.max(most, (sending.get() as { files: number }).files);
    return Promise.resolve();
  });
  return { state, most: () => most };
}

test('few files are in hand on a working copy: whoever takes over sends these again', async () => {
  const world = await createWorld({ upload: { concurrency: CONCURRENCY } });
  plant(world, FILES);
  const { state, most } = watchedCopy();
  try {
    expect(await world.pass({ state })).toMatchObject({ exitCode: 0, summary: { uploaded: FILES } });
    expect(most()).toBeLessThanOrEqual(CONCURRENCY + 16);
    // They are written down ahead all the same.
    expect(most()).toBeGreaterThan(CONCURRENCY);
  } finally {
    state.close();
  }
});

test('few are also in hand while a daemon sends many files that changed at once', async () => {
  const world = await createDaemonWorld({ upload: { concurrency: CONCURRENCY } });
  const { state, most } = watchedCopy();
  const running = world.launch(undefined, state);
  await world.until(() => running.passes.length > 0, 'the first pass ends');
  plant(world, FILES);
  await world.until(() => requestsFor(world, 'upload') === FILES, 'all are sent');
  await running.stop();
  expect(running.passes, 'by no pass').toHaveLength(1);
  expect(most()).toBeGreaterThan(CONCURRENCY);
  // Single changes go their own way, so that none waits behind many.
  expect(most()).toBeLessThanOrEqual(2 * (CONCURRENCY + 16));
});
