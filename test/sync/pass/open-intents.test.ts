import { expect, test } from 'vitest';
import { WorkingCopy } from '../../../src/state/working-copy.ts';
import { createWorld } from '../world.ts';

test('few files are in hand on a working copy: whoever takes over sends these again', async () => {
  const world = await createWorld({ upload: { concurrency: 4 } });
  for (let n = 0; n < 200; n++) world.write(`docs/${n}.md`, `file ${n}`);
  const copy = new WorkingCopy(':memory:');
  const sending = copy.database.prepare("SELECT count(*) AS files FROM file WHERE state = 'sending'");
  let most = 0;
  const state = copy.begin(() => {
    most = Math.max(most, (sending.get() as { files: number }).files);
    return Promise.resolve();
  });
  try {
    expect(await world.pass({ state })).toMatchObject({ exitCode: 0, summary: { uploaded: 200 } });
    expect(most).toBeLessThanOrEqual(4 + 16);
    // They are written down ahead all the same.
    expect(most).toBeGreaterThan(4);
  } finally {
    state.close();
  }
});
