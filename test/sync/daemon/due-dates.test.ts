import { describe, expect, test } from 'vitest';
import { eventually } from '../../files/watch-fixture.ts';
import { createDaemonWorld, plant, removedKeys, sentPaths, startDaemon } from '../daemon-world.ts';
import { refuseUpserts } from '../world.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** No rescan comes to the rescue. */
const WATCHED_ONLY = { watch: { rescan: '24d' } };

describe('a renewal', () => {
  test('that cannot be made is looked for again once a minute, and no more often', async () => {
    const world = await createDaemonWorld({
      ...WATCHED_ONLY,
      limits: { fileBytes: 10 },
      rules: [{ match: '**', expiresIn: '2h', renewBefore: '30m' }],
    });
    world.write('docs/a.md', 'one');
    const { events, passes } = await world.start();
    const refusals = (): number => events.filter(({ kind }) => kind === 'refuse').length;
    world.write('docs/a.md', 'more than is sent');
    await world.until(() => refusals() === 1, 'it is refused');
    await world.clock.advance(85 * MINUTE);
    expect(refusals()).toBe(1);
    await world.clock.advance(6 * MINUTE);
    await world.wait(5 * MINUTE, 2 * SECOND);
    expect(refusals()).toBeGreaterThan(1);
    expect(refusals()).toBeLessThan(15);
    expect(passes).toHaveLength(1);
  });

  test('is not waited for by others when its source is halted', async () => {
    const world = await createDaemonWorld({
      ...WATCHED_ONLY,
      sources: [{ directory: './docs' }, { directory: './more', botId: 'bot-2' }],
      rules: [
        { match: 'a.md', expiresIn: '2h', renewBefore: '30m' },
        { match: 'm.md', expiresIn: '2h', renewBefore: '28m' },
      ],
    });
    world.write('docs/a.md', 'one');
    world.write('more/m.md', 'one');
    const first = await world.start();
    await first.stop();
    world.move('docs', 'away');
    const expiresAtMs = Date.parse(world.status().sources[1]?.nextExpiry ?? '');
    // Files expire at whole minutes; what is done every minute from here on is done half a minute later.
    await world.clock.advance(expiresAtMs - 29.5 * MINUTE - world.clock.now());
    const running = await world.start();
    const { events, passes } = running;
    expect(passes[0]?.exitCode).toBe(5);
    expect(events.filter(({ kind }) => kind === 'renew')).toEqual([]);
    await world.clock.advance(expiresAtMs - 28 * MINUTE + 10 * SECOND - world.clock.now());
    await eventually(() => events.some(({ kind }) => kind === 'renew'), 'the renewal that is due');
    expect(events).toContainEqual(expect.objectContaining({ kind: 'renew', path: 'm.md', outcome: 'done' }));
    expect(sentPaths(running)).toEqual(['m.md']);
  });
});

describe('removals that halt their source', () => {
  const TOO_MANY = { ...WATCHED_ONLY, removals: { mode: 'expire', delay: '10s', maxCount: 5 } };

  test('are told of once, and no more before the next pass', async () => {
    const { world, running } = await startDaemon(20, TOO_MANY);
    for (let i = 0; i < 6; i++) world.remove(`docs/f${i}.md`);
    const told = (): string[] =>
      running.events.flatMap(({ kind, path }) => (kind === 'problem' ? [path] : []));
    await world.until(() => told().length > 0, 'the source is halted');
    await world.wait(5 * MINUTE, 5 * SECOND);
    expect(told()).toEqual(['.']);
    expect(running.passes).toHaveLength(1);
    expect(removedKeys(running)).toEqual([]);
  });

  test('do not hold up those of another source', async () => {
    const world = await createDaemonWorld({
      ...TOO_MANY,
      sources: [{ directory: './docs' }, { directory: './more', botId: 'bot-2' }],
    });
    plant(world, 20);
    for (let i = 0; i < 3; i++) world.write(`more/m${i}.md`, `other ${i}`);
    const running = await world.start();
    for (let i = 0; i < 6; i++) world.remove(`docs/f${i}.md`);
    await world.until(() => running.daemon.impediments.length > 0, 'the source is halted');
    world.remove('more/m1.md');
    await world.until(() => removedKeys(running).length > 0, 'a removal of the other');
    expect(removedKeys(running)).toEqual(['m1.md']);
    expect(running.passes).toHaveLength(1);
  });
});

test('removals that halted their source in a pass are told of once by it, and no more before the next', async () => {
  const world = await createDaemonWorld({
    ...WATCHED_ONLY,
    removals: { mode: 'expire', delay: '1s', maxCount: 2 },
  });
  plant(world, 20);
  await (await world.start()).stop();
  for (let i = 0; i < 5; i++) world.remove(`docs/f${i}.md`);
  const { events } = await world.start();
  await world.wait(10 * MINUTE, 2 * SECOND);
  expect(events.filter(({ path }) => path === '.')).toHaveLength(1);
});

test('a removal that is refused is not asked for again before the next pass, and is told to have failed', async () => {
  const { world, running } = await startDaemon(4, {
    watch: { rescan: '1h' },
    removals: { mode: 'expire', delay: '5s' },
  });
  refuseUpserts(world, 400, { key: 'f1.md' });
  const removals = (): (string | undefined)[] =>
    running.events.flatMap(({ kind, outcome }) => (kind === 'remove' ? [outcome] : []));
  world.remove('docs/f1.md');
  await world.until(() => removals().length > 0, 'the removal fails');
  await world.wait(30 * MINUTE, 2 * SECOND);
  expect(removals()).toEqual(['failed']);
  expect(world.status()).toMatchObject({
    sources: [{ files: 3, failed: 1, kept: 0 }],
    failures: [
      { path: 'f1.md', kind: 'failed', reason: expect.stringMatching(/^cannot be removed: 400/u) as string },
    ],
  });
  world.remove('docs/f2.md');
  await world.until(() => removedKeys(running).includes('f2.md'), 'others are removed');
  expect(removals()).toEqual(['failed', 'done']);
  await world.clock.advance(40 * MINUTE);
  await world.until(() => running.passes.length > 1, 'the rescan ends');
  expect(removals()).toEqual(['failed', 'done', 'failed']);
  expect(running.passes.at(-1)).toMatchObject({ exitCode: 3, summary: { failed: 1 } });
  world.emulator.faults.clear();
  world.write('docs/f1.md', 'back');
  await world.until(() => world.remote('f1.md') === 'back', 'it is back');
  await world.until(() => world.status().sources[0]?.files === 3, 'that is on record');
  expect(world.status()).toMatchObject({ sources: [{ files: 3, failed: 0 }], failures: [] });
});

test('a removal that failed is no failure any more once its file is back and left out', async () => {
  const { world, running } = await startDaemon(12, {
    removals: { mode: 'expire', delay: '1s' },
    limits: { indexBytes: 10 },
    rules: [{ match: '*.md', index: true, whenTooLargeToIndex: 'skip' }],
  });
  refuseUpserts(world, 400, { key: 'f1.md' });
  world.remove('docs/f1.md');
  await world.until(() => world.status().sources[0]?.failed === 1, 'the removal fails');
  world.write('docs/f1.md', 'more than ten bytes');
  world.write('docs/.botsyncignore', '*.tmp\n');
  await world.until(() => running.passes.length > 1, 'another pass ends');
  expect(running.passes.at(-1)).toMatchObject({ exitCode: 0, summary: { failed: 0, skipped: 1 } });
  expect(running.passes.at(-1)?.summary.toRemove).toBeGreaterThanOrEqual(0);
  await world.until(() => world.status().sources[0]?.failed === 0, 'that is on record');
  expect(world.status().failures).toEqual([]);
});
