import { writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createDaemonWorld, plant, requestsFor, sentPaths, type DaemonWorld } from '../daemon-world.ts';

const MINUTE = 60_000;

/** No rescan comes to the rescue. */
const WATCHED_ONLY = { watch: { rescan: '24d' } };

/** More new files than a pass has in hand at a time: what comes behind them waits. */
const MORE_THAN_IN_HAND = 300;

/** What hangs is not given up within a test. */
const PATIENT = { concurrency: 2, stallTimeout: '1h' };

/** Waits until requests have begun since a moment. */
async function untilRequested(world: DaemonWorld, since: number, what: string): Promise<void> {
  await world.until(() => requestsFor(world, 'upsert') > since, what);
}

describe('patterns that are written during a pass', () => {
  test('hold for what is created after them', async () => {
    const world = await createDaemonWorld({ upload: PATIENT });
    world.write('docs/slow.md', 'x');
    world.emulator.faults.add({ operation: 'upsert', key: 'slow.md', kind: 'hang' });
    const running = world.launch();
    await untilRequested(world, 0, 'the pass is under way');
    world.write('docs/.botsyncignore', 'secrets/\n*.secret\n');
    world.write('docs/mark1.md', 'x');
    await world.until(() => sentPaths(running).includes('mark1.md'), 'the patterns have settled');
    world.write('docs/secrets/key.md', 'private');
    world.write('docs/key.secret', 'private');
    world.write('docs/mark2.md', 'x');
    await world.until(() => sentPaths(running).includes('mark2.md'), 'the files have settled');
    await world.wait(10_000, 200);
    expect(running.passes).toHaveLength(0);
    expect(world.keys()).not.toContain('secrets/key.md');
    expect(world.keys()).not.toContain('key.secret');
  });

  test('hold for what the pass has still to send', async () => {
    const world = await createDaemonWorld({ upload: PATIENT });
    plant(world, MORE_THAN_IN_HAND);
    world.write('docs/z.secret', 'private');
    world.emulator.faults.add({ operation: 'upsert', key: 'f0.md', kind: 'hang' });
    const running = world.launch();
    await untilRequested(world, 0, 'the pass is under way');
    world.write('docs/.botsyncignore', '*.secret\n');
    world.write('docs/mark.md', 'x');
    await world.until(() => sentPaths(running).includes('mark.md'), 'the patterns have settled');
    await world.wait(5000, 200);
    world.emulator.faults.clear();
    await world.until(() => running.passes.length > 0, 'the pass ends');
    expect(world.keys()).not.toContain('z.secret');
  });
});

describe('an edit does not wait', () => {
  test('for the first pass over another source of the bot', async () => {
    const world = await createDaemonWorld({
      sources: [{ directory: './docs' }, { directory: './small' }],
      upload: PATIENT,
    });
    world.write('small/s.md', 'one');
    const first = await world.start();
    await first.stop();
    plant(world, MORE_THAN_IN_HAND);
    world.emulator.faults.add({ operation: 'upsert', key: 'f0.md', kind: 'hang' });
    const before = requestsFor(world, 'upsert');
    const running = world.launch();
    await untilRequested(world, before, 'the pass is under way');
    world.write('small/s.md', 'edited');
    await world.until(() => world.remote('s.md') === 'edited', 'the edit arrives');
    expect(running.passes).toHaveLength(0);
    world.emulator.faults.clear();
  });

  test('for hundreds of single new files', async () => {
    const world = await createDaemonWorld({ upload: { concurrency: 3 } });
    world.write('docs/zz.md', 'one');
    const running = await world.start();
    world.emulator.faults.add({ operation: 'upsert', kind: 'delay', delayMs: 10, times: Infinity });
    plant(world, MORE_THAN_IN_HAND);
    await world.until(() => sentPaths(running).length > 5, 'the new files are under way');
    world.write('docs/zz.md', 'edited');
    await world.until(() => world.remote('zz.md') === 'edited', 'the edit arrives');
    expect(sentPaths(running).length).toBeLessThan(MORE_THAN_IN_HAND - 50);
    world.emulator.faults.clear();
  });

  test('for renewals', async () => {
    const world = await createDaemonWorld({
      ...WATCHED_ONLY,
      upload: { concurrency: 3, stallTimeout: '1h' },
      rules: [{ match: 'r/**', expiresIn: '2h', renewBefore: '30m' }],
    });
    world.write('docs/zz.md', 'one');
    for (let i = 0; i < 5; i++) world.write(`docs/r/f${i}.md`, `file ${i}`);
    await world.start();
    for (let i = 0; i < 5; i++)
      world.emulator.faults.add({ operation: 'upsert', key: `r/f${i}.md`, kind: 'hang', times: Infinity });
    const before = requestsFor(world, 'upsert');
    await world.clock.advance(95 * MINUTE);
    await untilRequested(world, before + 1, 'the renewals are under way');
    world.write('docs/zz.md', 'edited');
    await world.until(() => world.remote('zz.md') === 'edited', 'the edit arrives');
    world.emulator.faults.clear();
  });
});

describe('a reload', () => {
  test('does not wait out a pause that the platform asked for', async () => {
    const world = await createDaemonWorld();
    const running = await world.start();
    const headers = { 'retry-after': '100' };
    world.fail('upsert', 429, { headers });
    const before = requestsFor(world, 'upsert');
    world.write('docs/a.md', 'one');
    await untilRequested(world, before, 'the platform asks for a pause');
    world.write('docs/b.md', 'two');
    await world.wait(3000, 100);
    const fromMs = world.clock.monotonic();
    let isTaken = false;
    const reloading = running.reload().then(() => (isTaken = true));
    await world.until(() => isTaken, 'the reload is taken');
    await reloading;
    expect(world.clock.monotonic() - fromMs).toBeLessThan(30_000);
    await world.until(() => sentPaths(running).length === 2, 'all arrives');
  });

  test('does not wait for an upload that takes long, nor does what comes after', async () => {
    const world = await createDaemonWorld({ upload: PATIENT });
    const running = await world.start();
    world.emulator.faults.add({ operation: 'upload', key: 'big.md', kind: 'hang' });
    world.write('docs/big.md', 'x');
    await world.until(() => requestsFor(world, 'upload') === 1, 'the upload is under way');
    await running.reload();
    world.write('docs/small.md', 'small');
    await world.until(() => world.remote('small.md') === 'small', 'a new file arrives');
    expect(sentPaths(running)).not.toContain('big.md');
    world.emulator.faults.clear();
    await world.until(() => sentPaths(running).includes('big.md'), 'the long one ends');
    expect(requestsFor(world, 'upload')).toBe(2);
  });

  test('that brings a source is not ready before the source was gone through', async () => {
    const world = await createDaemonWorld({ upload: PATIENT });
    const running = await world.start();
    expect(running.daemon.impediments).toEqual([]);
    world.write('more/m.md', 'x');
    world.emulator.faults.add({ operation: 'upsert', kind: 'hang' });
    world.configure({ sources: [{ directory: './docs' }, { directory: './more' }] });
    await running.reload();
    await untilRequested(world, 0, 'the new file is on its way');
    expect(running.daemon.impediments).toEqual(['the first pass has not ended']);
    world.emulator.faults.clear();
    await world.until(() => running.daemon.impediments.length === 0, 'it is ready again');
  });
});

describe('what the platform refuses', () => {
  test('between passes is tried again within minutes', async () => {
    const world = await createDaemonWorld(WATCHED_ONLY);
    const running = await world.start();
    world.fail('upsert', 401);
    world.write('docs/a.md', 'one');
    await world.until(() => running.daemon.activity.blocked !== null, 'it is refused');
    world.write('docs/b.md', 'two');
    await world.wait(5 * MINUTE);
    await world.until(() => sentPaths(running).length === 2, 'both arrive');
    await world.until(() => world.status().sources[0]?.files === 2, 'that is on record');
    expect(world.status().sources[0]?.failed).toBe(0);
    expect(running.daemon.impediments).toEqual([]);
  });

  test('is tried again slowly, also where nothing is watched', async () => {
    const world = await createDaemonWorld({
      watch: { poll: true, pollInterval: '10s' },
      upload: { concurrency: 1 },
    });
    plant(world, 40);
    const running = world.launch('wrong');
    await world.until(() => running.passes.length === 1, 'the first pass ends');
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    await world.wait(10 * MINUTE, 2000);
    await world.until(() => running.passes.length > 30, 'it goes on polling', 2000);
    expect(warnings).toEqual([]);
    expect(requestsFor(world, 'upsert')).toBeLessThan(12);
  });

  test('is told also while it is tried again', async () => {
    const world = await createDaemonWorld({ upload: PATIENT });
    world.write('docs/a.md', 'one');
    const running = world.launch('wrong');
    await world.until(() => running.passes.length === 1, 'the first pass ends');
    world.emulator.faults.add({ operation: 'upsert', kind: 'hang' });
    await untilRequested(world, requestsFor(world, 'upsert'), 'it is tried again');
    expect(running.daemon.impediments).toEqual([expect.stringContaining('refuses the credentials')]);
    world.emulator.faults.clear();
  });

  test('for want of room is told, and an edit that waits for it does not count as in sync', async () => {
    const world = await createDaemonWorld();
    world.write('docs/a.md', 'one');
    world.write('docs/c.md', 'one');
    const running = await world.start();
    world.fail('upsert', 402);
    world.write('docs/b.md', 'two');
    await world.until(() => running.daemon.activity.blocked !== null, 'it is refused');
    world.write('docs/a.md', 'one and much longer');
    await world.until(() => world.status().sources[0]?.files === 1, 'the edit is noticed');
    expect(world.remote('a.md')).toBe('one');
    expect(running.daemon.impediments).toEqual([expect.stringContaining('quota')]);
    expect(running.daemon.activity.blocked).toContain('402');
    const pending = (): unknown => world.status().failures.find(({ path }) => path === 'a.md');
    await world.until(() => pending() !== undefined, 'that is on record');
    expect(pending()).toMatchObject({ kind: 'pending', reason: expect.stringContaining('402') as string });
  });
});

describe('names', () => {
  test.each(['docs', 'docs/sub'])(
    'that are not valid UTF-8 are told of within seconds: in %s',
    async (where) => {
      const world = await createDaemonWorld(WATCHED_ONLY);
      world.makeDirectory('docs/sub');
      const running = await world.start();
      const fromMs = world.clock.monotonic();
      const name = Buffer.concat([Buffer.from(world.at(`${where}/caf`)), Buffer.from([0xe9])]);
      writeFileSync(name, 'x');
      await world.until(() => running.events.some(({ kind }) => kind === 'problem'), 'it is told');
      expect(world.clock.monotonic() - fromMs).toBeLessThan(30_000);
      await world.until(() => world.status().failures.length > 0, 'it is remembered');
      expect(world.status().failures).toMatchObject([{ kind: 'problem', key: null }]);
    },
  );
});

test('what waits for the sending of the same file sends nothing that this has sent', async () => {
  const world = await createDaemonWorld({ upload: PATIENT });
  world.write('docs/a.md', 'one');
  const running = await world.start();
  const before = requestsFor(world, 'upsert');
  // All that may be sent at a time.
  for (const key of ['h1.md', 'h2.md']) {
    world.emulator.faults.add({ operation: 'upsert', key, kind: 'hang' });
    world.write(`docs/${key}`, 'x');
  }
  await untilRequested(world, before + 1, 'nothing else may begin');
  world.write('docs/a.md', 'two is longer');
  await world.wait(1000, 100);
  // Looked at again, for another host's hint for instance, and written again before its turn comes.
  running.daemon.rescan('docs', 'a.md');
  await world.wait(1000, 100);
  world.write('docs/a.md', 'three is the longest');
  await world.wait(1000, 100);
  world.emulator.faults.clear();
  await world.until(() => world.remote('a.md') === 'three is the longest', 'it arrives');
  await world.wait(5000, 100);
  expect(sentPaths(running).filter((path) => path === 'a.md')).toHaveLength(2);
});
