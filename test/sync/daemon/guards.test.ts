import { mkdirSync, renameSync, rmdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DISK, type Disk } from '../../../src/files/disk.ts';
import { eventually } from '../../files/watch-fixture.ts';
import { bind, coverWithNothing, NO_MOUNTS, unmount } from '../../mounts.ts';
import { createDaemonWorld, plant, removedKeys, requestsFor, startDaemon } from '../daemon-world.ts';
import { refuseUpserts } from '../world.ts';

const MINUTE = 60_000;

const EXPIRE = { removals: { mode: 'expire', delay: '1m' } };

describe('a removed file', () => {
  test('goes from the platform when the delay is over', async () => {
    const { world, running } = await startDaemon(3, EXPIRE);
    world.remove('docs/f1.md');
    await world.wait(50_000);
    expect(world.remote('f1.md')).toBe('file 1');
    await world.wait(20_000);
    await world.until(() => removedKeys(running).length === 1, 'it is put away');
    expect(running.passes, 'by no pass').toHaveLength(1);
    expect(world.remote('f1.md')).not.toBe('file 1');
    await world.wait(5 * MINUTE);
    expect(world.keys()).toEqual(['f0.md', 'f2.md']);
  });

  test('counts as a removal that waits', async () => {
    const { world, running } = await startDaemon(3, EXPIRE);
    world.remove('docs/f1.md');
    await world.wait(10_000);
    await running.reload();
    await world.until(() => running.passes.length === 2, 'the pass after the reload');
    expect(running.passes.at(-1)?.summary).toMatchObject({ toRemove: 1, kept: 0, removed: 0, unchanged: 2 });
  });

  test('that is back before stays', async () => {
    const { world, running } = await startDaemon(3, EXPIRE);
    world.remove('docs/f1.md');
    await world.wait(30_000);
    world.write('docs/f1.md', 'file 1');
    await world.wait(5 * MINUTE);
    expect(removedKeys(running)).toEqual([]);
    expect(world.remote('f1.md')).toBe('file 1');
  });

  test('that is back after is whole again', async () => {
    const { world, running } = await startDaemon(3, EXPIRE);
    world.remove('docs/f1.md');
    await world.until(() => removedKeys(running).length === 1, 'it is put away');
    world.write('docs/f1.md', 'file 1');
    await world.until(() => world.remote('f1.md') === 'file 1', 'it is back');
    await world.wait(20 * MINUTE, 10_000);
    expect(world.remote('f1.md')).toBe('file 1');
  });

  test('that came back without an event is not put away: it is looked for again', async () => {
    const { world, running: first } = await startDaemon(3, {
      ...EXPIRE,
      watch: { settle: '10m', maxDelay: '1h' },
    });
    await first.stop();
    world.remove('docs/f1.md');
    const running = await world.start();
    world.write('docs/f1.md', 'another');
    await world.wait(5 * MINUTE);
    expect(removedKeys(running)).toEqual([]);
    expect(world.remote('f1.md')).toBe('file 1');
  });

  test('that was renamed goes only after it is there under its new key', async () => {
    const { world, running } = await startDaemon(3, { ...EXPIRE, upload: { attempts: 1 } });
    world.fail('upload', 403);
    world.move('docs/f1.md', 'docs/z.md');
    await world.until(
      () => running.events.some(({ key, outcome }) => key === 'z.md' && outcome === 'failed'),
      'the new key fails',
    );
    await world.wait(5 * MINUTE);
    expect(removedKeys(running)).toEqual([]);
    await world.wait(15 * MINUTE, 10_000);
    await world.until(() => removedKeys(running).length === 1, 'the old key is put away');
    expect(world.remote('z.md')).toBe('file 1');
  });

  test('is kept in mode "keep"', async () => {
    const { world, running } = await startDaemon(3);
    world.remove('docs/f1.md');
    await world.wait(20 * MINUTE, 10_000);
    expect(removedKeys(running)).toEqual([]);
    expect(world.status().sources[0]).toMatchObject({ files: 2, kept: 1 });
  });
});

describe('too many removals', () => {
  test('halt the source, also when they come one by one, until someone approves', async () => {
    const { world, running } = await startDaemon(30, {
      removals: { mode: 'expire', delay: '10s', maxCount: 5 },
    });
    for (let i = 0; i < 12; i++) {
      world.remove(`docs/f${i}.md`);
      await world.wait(2 * MINUTE, 5000);
    }
    expect(removedKeys(running)).toHaveLength(5);
    expect(world.status().sources[0]?.halted).toContain('maxCount');
    expect(running.daemon.impediments.join()).toContain('maxCount');
    // All else goes on.
    world.write('docs/new.md', 'new');
    await world.until(() => world.remote('new.md') === 'new', 'a new file arrives');
    // An approval is for what was told: the next rescan tells of all that went since.
    await world.wait(16 * MINUTE, 5000);
    expect(running.daemon.approve('docs').approved).toEqual(['docs']);
    await world.until(() => removedKeys(running).length === 12, 'the approved removals');
    await world.until(() => world.status().sources[0]?.halted === null, 'the source is no longer halted');
    // What was approved is not held against what comes after.
    world.remove('docs/f20.md');
    await world.wait(5 * MINUTE, 5000);
    expect(removedKeys(running)).toHaveLength(13);
  });

  test('are approved as they were shown: what goes meanwhile, or halts the source otherwise, halts it again', async () => {
    const { world, running } = await startDaemon(30, {
      removals: { mode: 'expire', delay: '10s', maxCount: 5 },
    });
    for (let i = 0; i < 6; i++) world.remove(`docs/f${i}.md`);
    await world.until(() => world.status().sources[0]?.halted !== null, 'the source is halted');
    const shown = world.status().sources[0]?.halt;
    expect(shown).toMatchObject({
      kind: 'mass-removal',
      files: 6,
      first: ['f0.md', 'f1.md', 'f2.md', 'f3.md', 'f4.md', 'f5.md'],
    });
    for (let i = 6; i < 12; i++) world.remove(`docs/f${i}.md`);
    await world.wait(5000, 100);
    expect(running.daemon.approve('docs', shown?.digest)).toMatchObject({ approved: ['docs'] });
    await world.until(() => removedKeys(running).length > 0, 'the approved removals');
    await world.wait(16 * MINUTE, 5000);
    expect(removedKeys(running).sort()).toEqual(shown?.first);
    const next = world.status().sources[0]?.halt;
    expect(next).toMatchObject({ kind: 'mass-removal', files: 6 });
    expect(running.daemon.approve('docs', shown?.digest)).toMatchObject({ approved: [], changed: ['docs'] });
    expect(running.daemon.approve('docs', next?.digest)).toMatchObject({ approved: ['docs'] });
    await world.until(() => removedKeys(running).length === 12, 'the others');
  });

  test('that an earlier run met can be approved before the first pass has come to them', async () => {
    const { world, running: first } = await startDaemon(30, {
      removals: { mode: 'expire', delay: '10s', maxCount: 5 },
    });
    for (let i = 0; i < 6; i++) world.remove(`docs/f${i}.md`);
    await world.until(() => world.status().sources[0]?.halted !== null, 'the source is halted');
    await first.stop();
    const running = world.launch();
    expect(running.daemon.approve(null)).toMatchObject({ approved: ['docs'] });
    await world.until(() => removedKeys(running).length === 6, 'the approved removals');
  });
});

test('a source that is emptied file by file is halted', async () => {
  const { world, running } = await startDaemon(4, { removals: { mode: 'expire', delay: '10s' } });
  for (let i = 0; i < 4; i++) world.remove(`docs/f${i}.md`);
  await world.wait(30 * MINUTE, 10_000);
  expect(removedKeys(running)).toEqual([]);
  expect(world.status().sources[0]?.halted).toContain('no files, although');
});

test('one source that is halted does not stop another', async () => {
  const world = await createDaemonWorld({
    ...EXPIRE,
    sources: [{ directory: './docs' }, { directory: './more', botId: 'bot-2' }],
  });
  plant(world, 2);
  world.write('more/a.md', 'a');
  const running = await world.start();
  world.remove('docs');
  await world.until(() => running.passes.at(-1)?.exitCode === 5, 'the one is halted');
  world.write('more/a.md', 'edited');
  world.write('more/b.md', 'b');
  await world.until(() => world.remote('a.md', 'bot-2') === 'edited', 'an edit in the other arrives');
  world.remove('more/b.md');
  await world.until(() => removedKeys(running).length === 1, 'a removal in the other');
  expect(world.remote('f0.md')).toBe('file 0');
});

test('nothing is removed after a scan that could not see everything', async () => {
  const world = await createDaemonWorld({
    ...EXPIRE,
    sources: [{ directory: './docs', symlinks: 'follow' }],
  });
  plant(world, 3);
  world.write('far/x.md', 'x');
  world.move('far', 'near');
  const running = await world.start();
  symlinkSync('../far', world.at('docs/lost'));
  world.remove('docs/f1.md');
  await world.wait(20 * MINUTE, 10_000);
  expect(removedKeys(running)).toEqual([]);
  expect(running.told).toContainEqual(
    expect.stringMatching(/^warn docs: nothing is removed .*\(1 to remove\)/u),
  );
  world.remove('docs/lost');
  await world.wait(20 * MINUTE, 10_000);
  await world.until(() => removedKeys(running).length === 1, 'it is put away at last');
});

test('a file that could not be read at first does not hold back removals that look like it once it was sent', async () => {
  const { world, running } = await startDaemon(12, {
    removals: { mode: 'expire', delay: '10s' },
    upload: { attempts: 1 },
  });
  world.fail('upload', 403);
  world.move('docs/f1.md', 'docs/y.md');
  await world.until(() => running.events.some(({ outcome }) => outcome === 'failed'), 'the new key fails');
  world.move('docs/y.md', 'docs/z.md');
  await world.until(() => world.remote('z.md') === 'file 1', 'the newest key arrives');
  await world.wait(2 * MINUTE);
  // No pass came to the rescue.
  expect(running.passes).toHaveLength(1);
  expect(removedKeys(running)).toEqual(['f1.md', 'y.md']);
});

test('what is unmounted below a source while the daemon runs is not removed, and halts it at the next pass', async (context) => {
  const world = await createDaemonWorld(EXPIRE);
  const disk = world.at('disk');
  const nas = world.at('docs/nas');
  plant(world, 3);
  mkdirSync(disk);
  mkdirSync(nas);
  writeFileSync(join(disk, 'b.md'), 'b');
  if (!bind(disk, nas)) context.skip(NO_MOUNTS);
  const running = await world.start();
  expect(world.remote('nas/b.md')).toBe('b');
  unmount(nas);
  // As a look at it would find it missing.
  writeFileSync(join(nas, 'c.md'), 'on what lies below the mount');
  unlinkSync(join(nas, 'c.md'));
  await world.wait(10 * MINUTE, 5000);
  expect(removedKeys(running)).toEqual([]);
  await world.wait(10 * MINUTE, 5000);
  expect(running.daemon.impediments.join()).toContain(`no longer mounted: ${nas}`);
  expect(removedKeys(running)).toEqual([]);
  expect(running.daemon.approve(null).approved).toHaveLength(1);
  await world.wait(5 * MINUTE, 1000);
  await world.until(() => removedKeys(running).length === 1, 'it is put away');
  expect(removedKeys(running)).toEqual(['nas/b.md']);
});

test('what is mounted below a source while the daemon runs is watched, and known when it goes', async (context) => {
  const world = await createDaemonWorld({ ...EXPIRE, watch: { rescan: '10h' } });
  const disk = world.at('disk');
  const stick = world.at('docs/stick');
  plant(world, 3);
  mkdirSync(disk);
  const running = await world.start();
  mkdirSync(stick);
  if (!bind(disk, stick)) context.skip(NO_MOUNTS);
  await world.until(() => running.passes.some(({ trigger }) => trigger === 'root'), 'it is noticed');
  writeFileSync(join(stick, 'b.md'), 'b');
  await world.until(() => world.remote('stick/b.md') === 'b', 'what is written there arrives');
  unmount(stick);
  rmdirSync(stick);
  await world.wait(10 * MINUTE, 5000);
  expect(removedKeys(running)).toEqual([]);
  expect(running.daemon.impediments.join()).toContain('no longer mounted');
});

test('what is written while the directory is away for a moment is sent soon after', async () => {
  const world = await createDaemonWorld({ ...EXPIRE, watch: { rescan: '10h', settle: '10ms' } });
  plant(world, 3);
  await world.start();
  const [docs, aside] = [world.at('docs'), world.at('aside')];
  renameSync(docs, aside);
  writeFileSync(join(aside, 'new.md'), 'new');
  await world.wait(500, 50);
  renameSync(aside, docs);
  await world.wait(MINUTE);
  expect(world.remote('new.md')).toBe('new');
});

test('a directory that was being walked when the source went away for a moment is walked again', async () => {
  let isAway = false as boolean;
  let isDue = false as boolean;
  const isStillDue = (): boolean => isDue;
  const disk: Disk = {
    ...DISK,
    lstat: (path) => {
      if (path.endsWith('/new/a.md') && isDue) [isAway, isDue] = [true, false];
      return DISK.lstat(path);
    },
    stat: (path) => {
      if (isAway && path.endsWith('/docs')) throw Object.assign(new Error('it is away'), { code: 'ENOENT' });
      return DISK.stat(path);
    },
  };
  const watch = { rescan: '10h', settle: '10ms' };
  const world = await createDaemonWorld({ ...EXPIRE, watch }, {}, 0, 0.5, disk);
  plant(world, 3);
  const { daemon } = await world.start();
  isDue = true;
  world.write('docs/new/a.md', 'a');
  world.write('docs/new/b.md', 'b');
  // The clock stands still while it is away: nothing else is due that could notice.
  for (let step = 0; step < 100 && isStillDue(); step += 1) await world.wait(50, 50);
  await eventually(() => daemon.activity.queued + daemon.activity.sending === 0, 'the walk is over');
  isAway = false;
  await world.wait(MINUTE);
  expect([isDue, world.remote('new/a.md'), world.remote('new/b.md')]).toEqual([false, 'a', 'b']);
});

test('a directory that went away for a moment just before it was listed is walked soon after', async () => {
  let isAway = true as boolean;
  let isListed = false as boolean;
  const disk: Disk = {
    ...DISK,
    openDirectory: (path, encoding) => {
      if (!isAway || !path.endsWith('/docs')) return DISK.openDirectory(path, encoding);
      isListed = true;
      throw Object.assign(new Error('it is away'), { code: 'ENOENT' });
    },
  };
  const world = await createDaemonWorld({ ...EXPIRE, watch: { rescan: '10h' } }, {}, 0, 0.5, disk);
  plant(world, 3);
  const running = await world.start();
  await world.until(() => isListed && running.daemon.impediments.length > 0, 'the source is halted');
  isAway = false;
  await world.wait(MINUTE);
  expect(running.daemon.impediments).toEqual([]);
  expect(world.remote('f0.md')).toBeDefined();
});

test('a directory that went away for a moment during the first pass is walked again soon after', async () => {
  let isAway = false as boolean;
  let isDue = true as boolean;
  const disk: Disk = {
    ...DISK,
    lstat: (path) => {
      if (path.endsWith('/f2.md') && isDue) [isAway, isDue] = [true, false];
      return DISK.lstat(path);
    },
    stat: (path) => {
      if (isAway && path.endsWith('/docs')) throw Object.assign(new Error('it is away'), { code: 'ENOENT' });
      return DISK.stat(path);
    },
  };
  const world = await createDaemonWorld({ ...EXPIRE, watch: { rescan: '10h' } }, {}, 0, 0.5, disk);
  plant(world, 3);
  const running = await world.start();
  expect(running.daemon.impediments).not.toEqual([]);
  isAway = false;
  await world.wait(MINUTE);
  expect(running.daemon.impediments).toEqual([]);
  expect(world.remote('f0.md')).toBeDefined();
});

test('a directory that cannot be listed does not cause one pass after the other', async () => {
  const disk: Disk = {
    ...DISK,
    openDirectory: (path, encoding) => {
      if (path.endsWith('/docs')) throw Object.assign(new Error('no'), { code: 'EIO' });
      return DISK.openDirectory(path, encoding);
    },
  };
  const world = await createDaemonWorld({ ...EXPIRE, watch: { rescan: '10h' } }, {}, 0, 0.5, disk);
  plant(world, 3);
  const running = await world.start();
  await world.wait(10 * MINUTE, 10_000);
  expect(running.passes.length).toBeLessThan(4);
});

test('what is deleted while a file system hides a directory for a moment is removed soon after', async (context) => {
  const world = await createDaemonWorld({ ...EXPIRE, watch: { rescan: '10h', settle: '10ms' } });
  plant(world, 3);
  world.makeDirectory('docs/still');
  world.write('docs/still/b.md', 'b');
  const running = await world.start();
  if (!coverWithNothing(world.at('docs/still'))) context.skip(NO_MOUNTS);
  world.remove('docs/f0.md');
  await world.until(() => world.status().sources[0]?.toRemove === 1, 'it is noticed');
  unmount(world.at('docs/still'));
  await world.wait(10 * MINUTE, 5000);
  expect(removedKeys(running)).toEqual(['f0.md']);
});

test('removals that met an outage find that out also where the first of them has to stay', async () => {
  const { world, running } = await startDaemon(20, { removals: { mode: 'expire', delay: '5s' } });
  refuseUpserts(world, 400, { key: 'z.md' });
  world.move('docs/f0.md', 'docs/z.md');
  await world.until(
    () => running.events.some(({ outcome }) => outcome === 'failed'),
    'the new name is refused',
  );
  world.fail('upsert', 503, { times: 20 });
  for (let i = 1; i < 5; i++) world.remove(`docs/f${i}.md`);
  await world.until(() => running.daemon.activity.platformOutOfReach, 'the outage is noticed');
  await world.until(() => removedKeys(running).length === 4, 'they are removed', 5000);
  expect(removedKeys(running)).toEqual(['f1.md', 'f2.md', 'f3.md', 'f4.md']);
});

test('an outage is nothing that removals fail of', async () => {
  const { world, running } = await startDaemon(20, {
    removals: { mode: 'expire', delay: '5s' },
    watch: { rescan: '24d' },
  });
  const failures = (): number => running.events.filter(({ outcome }) => outcome === 'failed').length;
  refuseUpserts(world, 503);
  for (let i = 0; i < 8; i++) world.remove(`docs/f${i}.md`);
  await world.until(() => running.daemon.activity.platformOutOfReach, 'the outage is noticed');
  const before = { failures: failures(), requests: requestsFor(world, 'upsert') };
  await world.wait(20 * MINUTE, 2000);
  expect(requestsFor(world, 'upsert')).toBeGreaterThan(before.requests + 5);
  expect(failures()).toBe(before.failures);
});
