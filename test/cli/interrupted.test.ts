import { expect, test } from 'vitest';
import { createSite, start } from './binary.ts';

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s: what is under way ends, nothing new begins, exit 130 with a summary; the next pass does the rest',
  async (signal) => {
    const site = await createSite({ upload: { concurrency: 1 } });
    for (let n = 0; n < 30; n++) site.write(`docs/${n}`, 'x');
    site.emulator.faults.add({ operation: 'upload', kind: 'hang', after: 3 });
    const running = start(site.directory, ['sync', '--once', '--json'], site.env);
    await expect.poll(() => site.emulator.faults.pending().length).toBe(0);
    running.child.kill(signal);
    await expect.poll(() => running.child.killed).toBe(true);
    site.emulator.faults.clear();
    const outcome = await running.ended;
    expect(outcome.code).toBe(130);
    const summary = outcome.lines().at(-1) as Record<string, number>;
    expect(summary['uploaded']).toBeGreaterThanOrEqual(3);
    expect(summary['uploaded']).toBeLessThan(30);
    const rest = await site.sync();
    expect(rest.code).toBe(0);
    expect(site.emulator.listFiles('bot-1').every(({ content }) => content?.size === 1)).toBe(true);
  },
);

test('a second signal ends the process at once, with what there is to sum up', async () => {
  const site = await createSite();
  site.write('docs/a', 'a');
  site.emulator.faults.add({ operation: 'upload', kind: 'hang' });
  const running = start(site.directory, ['sync', '--once', '--json'], site.env);
  await expect.poll(() => site.emulator.faults.pending().length).toBe(0);
  running.child.kill('SIGINT');
  const beganMs = performance.now();
  const over = new AbortController();
  void running.ended.then(() => {
    over.abort();
  });
  // The first signal may still be on its way when the second is sent, and both are then one.
  while (!over.signal.aborted) {
    running.child.kill('SIGINT');
    await new Promise(setImmediate);
  }
  const outcome = await running.ended;
  expect(outcome).toMatchObject({ code: 130 });
  expect(outcome.lines().at(-1)).toMatchObject({ kind: 'summary', uploaded: 0 });
  expect(performance.now() - beganMs).toBeLessThan(5000);
});
