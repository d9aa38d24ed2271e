import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Delivery } from '../../src/domain/notice.ts';
import type { Fault } from '../../src/emulator/faults.ts';
import { failing, LOST, MINUTE, snapshot } from './fixture.ts';
import { createNotifyWorld, type NotifyWorld } from './world.ts';

const DAY = 24 * 60 * MINUTE;

const refuse = (status: number, times = Infinity): Fault => ({
  operation: 'create-message',
  kind: 'status',
  status,
  times,
});

const delivery = ({ target }: NotifyWorld, some: Partial<Delivery> = {}): Delivery => ({
  source: 'docs',
  path: 'a.mp3',
  key: 'a.mp3',
  target,
  sha256: randomBytes(32),
  isPublic: true,
  publicUrl: 'https://x/a.mp3',
  ...some,
});

const texts = (world: NotifyWorld): string[] => world.messages().map(({ text }) => String(text));

describe('a trouble', () => {
  test('is told once, and its end once, over restarts', async () => {
    const world = await createNotifyWorld();
    world.shown = snapshot([failing(1)]);
    const stop = world.run();
    await world.until(() => world.messages().length === 1, 'the failure is told');
    await world.wait(MINUTE);
    await stop();
    world.run();
    await world.wait(MINUTE);
    expect(texts(world)).toEqual([expect.stringContaining('1 file of docs is not in sync')]);
    world.shown = snapshot([]);
    await world.until(() => world.messages().length === 2, 'the recovery is told');
    await world.wait(20 * MINUTE);
    expect(texts(world).slice(1)).toEqual([expect.stringContaining('all files of docs are in sync again')]);
    expect(world.outcomes).toEqual(['sent', 'sent']);
  });

  test('that could not be told is told later, if it is still there', async () => {
    const world = await createNotifyWorld();
    world.emulator.faults.add(refuse(500));
    world.shown = snapshot([failing(1), LOST]);
    world.run();
    await world.until(() => world.outcomes.length === 3, 'it is tried again');
    expect(world.logged[0]).toMatch(/^warn notification failed: 500/u);
    world.shown = snapshot([failing(3)]);
    await world.wait(MINUTE);
    world.emulator.faults.clear();
    await world.until(() => world.messages().length === 1, 'it is told');
    expect(texts(world)).toEqual([expect.stringContaining('3 files of docs are not in sync')]);
  });

  test('that was over before it could be told is not told at all', async () => {
    const world = await createNotifyWorld();
    world.emulator.faults.add(refuse(401));
    world.shown = snapshot([failing(1)]);
    world.run();
    await world.until(() => world.outcomes.length === 1, 'it is tried');
    world.shown = snapshot([]);
    await world.wait(MINUTE);
    world.emulator.faults.clear();
    await world.wait(20 * MINUTE);
    expect(world.messages()).toEqual([]);
  });
});

test('a chat that fails is asked less and less often', async () => {
  const world = await createNotifyWorld();
  world.emulator.faults.add(refuse(403));
  world.shown = snapshot([failing(1)]);
  world.run();
  await world.wait(3 * 60 * MINUTE, 15_000);
  // After 30 s, 1, 2, 4, 8 min, then every 15 min.
  expect(world.outcomes.length).toBeGreaterThan(8);
  expect(world.outcomes.length).toBeLessThan(19);
  expect(world.logged[0]).toContain('may not be a participant of the conversation');
});

test('a chat that hangs is left at once when it is time to stop', async () => {
  const world = await createNotifyWorld();
  world.emulator.faults.add({ operation: 'create-message', kind: 'hang' });
  world.shown = snapshot([failing(1)]);
  const stop = world.run();
  await world.until(() => world.emulator.faults.pending().length === 0, 'it hangs');
  await stop();
  expect(world.logged).toEqual([]);
  expect(world.outcomes).toEqual([]);
});

test('a pass that ends tells what is to be told, and says what it could not', async () => {
  const world = await createNotifyWorld();
  world.shown = snapshot([LOST]);
  await world.notifications().once(new AbortController().signal);
  expect(texts(world)).toEqual([expect.stringContaining('unreachable')]);
  world.emulator.faults.add({ operation: 'create-message', kind: 'hang' });
  world.shown = snapshot([]);
  const giveUp = new AbortController();
  const told = world.notifications().once(giveUp.signal);
  await world.until(() => world.emulator.faults.pending().length === 0, 'it hangs');
  giveUp.abort('no answer within 10 s');
  await told;
  expect(world.logged).toEqual(['warn notification failed: no answer within 10 s']);
});

test('a summary is told every so often', async () => {
  const world = await createNotifyWorld({ on: ['summary', 'failing'], summaryEvery: '1h' });
  world.shown = snapshot([failing(2)]);
  world.run();
  await world.wait(59 * MINUTE);
  expect(world.messages()).toHaveLength(1);
  await world.wait(2 * MINUTE);
  expect(texts(world).slice(1)).toEqual([
    'botsync on web1: 3 files in sync (30 B). Sent since 2026-03-01T12:00Z: 1 file (10 B). Problems: 2 files of docs are not in sync: the first is a.md (500). Run: botsync status -c x',
  ]);
});

describe('announcements', () => {
  const announcing = (): Promise<NotifyWorld> => createNotifyWorld({ announce: [{ match: '*.mp3' }] });
  const urls = (world: NotifyWorld): unknown[] => world.messages().map(({ audioUrl }) => audioUrl);

  test('are made once a content', async () => {
    const world = await announcing();
    const notifications = world.notifications();
    world.run(notifications);
    const one = delivery(world);
    notifications.delivered(one);
    notifications.delivered({ ...one, key: 'renamed.mp3' });
    notifications.delivered(delivery(world, { path: 'a.txt' }));
    await world.until(() => world.messages().length === 1, 'it is announced');
    notifications.delivered(one);
    world.notifications().delivered(one);
    await world.wait(MINUTE);
    expect(world.messages()).toEqual([{ type: 'audio', audioUrl: 'https://x/a.mp3' }]);
  });

  test('of files that nobody could hear are not made, which is said once a file', async () => {
    const world = await announcing();
    const notifications = world.notifications();
    for (let time = 0; time < 2; time++) {
      notifications.delivered(delivery(world, { isPublic: false, publicUrl: null }));
      notifications.delivered(delivery(world, { path: 'b.mp3', publicUrl: null }));
    }
    expect(world.logged).toHaveLength(2);
    expect(world.store.notices.pendingAnnouncements()).toEqual([]);
  });

  test('wait for the chat, over restarts, for a day', async () => {
    const world = await announcing();
    world.emulator.faults.add(refuse(500));
    const notifications = world.notifications();
    notifications.delivered(delivery(world));
    const stop = world.run(notifications);
    await world.until(() => world.outcomes.length === 1, 'it is tried');
    await stop();
    world.emulator.faults.clear();
    const stopAgain = world.run();
    await world.until(() => world.messages().length === 1, 'it is announced');
    await stopAgain();
    world.notifications().delivered(delivery(world, { publicUrl: 'https://x/late.mp3' }));
    await world.clock.advance(DAY + MINUTE);
    world.run();
    await world.until(() => world.outcomes.at(-1) === 'dropped', 'it is no news any more');
    expect(urls(world)).toEqual(['https://x/a.mp3']);
  });

  test('that the chat refuses do not hold up others', async () => {
    const world = await announcing();
    world.emulator.faults.add(refuse(400, 1));
    const notifications = world.notifications();
    notifications.delivered(delivery(world, { key: 'a', publicUrl: 'https://x/1' }));
    notifications.delivered(delivery(world, { key: 'b', publicUrl: 'https://x/2' }));
    world.run(notifications);
    await world.until(() => world.outcomes.length === 2, 'the other is announced');
    expect(urls(world)).toEqual(['https://x/2']);
    expect(world.outcomes).toEqual(['dropped', 'sent']);
    await world.wait(30 * MINUTE);
    expect(world.messages()).toHaveLength(1);
  });

  test('of a whole folder at once are cut short', async () => {
    const world = await announcing();
    const notifications = world.notifications();
    for (let n = 0; n < 60; n++) notifications.delivered(delivery(world, { key: `${n}.mp3` }));
    expect(world.store.notices.pendingAnnouncements()).toHaveLength(50);
    expect(world.outcomes).toHaveLength(10);
  });

  test('of an older content give way to a newer one', async () => {
    const world = await announcing();
    const notifications = world.notifications();
    notifications.delivered(delivery(world, { publicUrl: 'https://x/old' }));
    notifications.delivered(delivery(world, { publicUrl: 'https://x/new' }));
    world.run(notifications);
    await world.wait(MINUTE);
    expect(urls(world)).toEqual(['https://x/new']);
  });
});
