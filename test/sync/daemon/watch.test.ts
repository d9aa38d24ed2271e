import { readFileSync, renameSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createDaemonWorld } from '../daemon-world.ts';

describe('a change is on the platform without a pass', () => {
  test('a new file, an edit, a file in new directories', async () => {
    const world = await createDaemonWorld();
    world.write('docs/a.md', 'one');
    const { passes } = await world.start();
    expect(world.remote('a.md')).toBe('one');
    world.write('docs/a.md', 'two');
    world.write('docs/b.md', 'new');
    world.write('docs/deep/er/c.md', 'below');
    await world.until(() => world.remote('a.md') === 'two', 'the edit arrives');
    await world.until(() => world.remote('b.md') === 'new', 'the new file arrives');
    await world.until(() => world.remote('deep/er/c.md') === 'below', 'the file in new directories arrives');
    expect(passes).toHaveLength(1);
  });

  test('a renamed file and a renamed directory are there under their new keys', async () => {
    const world = await createDaemonWorld();
    world.write('docs/a.md', 'a');
    world.write('docs/sub/b.md', 'b');
    const { events } = await world.start();
    world.move('docs/a.md', 'docs/z.md');
    world.move('docs/sub', 'docs/bus');
    await world.until(() => world.remote('z.md') === 'a' && world.remote('bus/b.md') === 'b', 'both arrive');
    // Nothing is removed: that is what "keep" means.
    expect(world.keys().sort()).toEqual(['a.md', 'bus/b.md', 'sub/b.md', 'z.md']);
    expect(events.filter(({ kind }) => kind === 'remove')).toEqual([]);
  });

  test('ignored files are not looked at; what is ignored from now on is left alone', async () => {
    const world = await createDaemonWorld();
    world.write('docs/a.md', 'one');
    const { passes } = await world.start();
    world.write('docs/x.tmp', 'no');
    world.write('docs/.botsyncignore', 'drafts/\n');
    await world.until(() => passes.length > 1, 'rescanning everything');
    expect(passes[1]?.trigger).toBe('ignore-file');
    world.write('docs/drafts/x.md', 'no');
    world.write('docs/y.md', 'yes');
    await world.until(() => world.remote('y.md') !== null, 'what is not ignored arrives');
    writeFileSync(world.at('docs/.botsyncignore'), '');
    await world.until(() => world.remote('drafts/x.md') === 'no', 'what was ignored arrives');
    expect(world.keys().sort()).toEqual(['a.md', 'drafts/x.md', 'y.md']);
  });
});

test('a file that is sent while it changes ends as it is at last', async () => {
  const world = await createDaemonWorld();
  world.write('docs/a.md', 'one');
  await world.start();
  for (let i = 0; i < 20; i++) {
    world.write('docs/a.md', `edit ${i}`);
    await world.clock.advance(100 * (i % 8));
  }
  await world.until(() => world.remote('a.md') === 'edit 19', 'the last edit arrives');
});

test('what links point to outside is found by a rescan, which is counted', async () => {
  const world = await createDaemonWorld({ sources: [{ directory: './docs', symlinks: 'follow' }] });
  world.write('elsewhere/a.md', 'one');
  symlinkSync('../elsewhere', world.at('docs/link'));
  const { told, passes } = await world.start();
  expect(world.remote('link/a.md')).toBe('one');
  world.write('elsewhere/a.md', 'two');
  await world.wait(60_000);
  expect(world.remote('link/a.md')).toBe('one');
  await world.wait(15 * 60_000, 10_000);
  await world.until(() => passes.length === 2, 'the rescan ends');
  expect(world.remote('link/a.md')).toBe('two');
  expect(told).toEqual(['found docs']);
});

test('without file system events everything is looked at every pollInterval', async () => {
  const world = await createDaemonWorld({ watch: { poll: true, pollInterval: '10s' } });
  world.write('docs/a.md', 'one');
  const { daemon, passes } = await world.start();
  expect(daemon.watchedDirectories.get('docs')).toBe(0);
  world.write('docs/a.md', 'other');
  await world.until(() => world.remote('a.md') === 'other', 'the edit is found');
  await world.until(() => passes.length > 1, 'the pass that found it ends');
});

describe('the directory of a source', () => {
  test('that vanishes halts it, and it goes on when the directory is back', async () => {
    const world = await createDaemonWorld({ removals: { mode: 'expire', delay: '1s' } });
    world.write('docs/a.md', 'one');
    const { daemon, passes } = await world.start();
    world.move('docs', 'away');
    await world.until(() => passes.at(-1)?.exitCode === 5, 'the source is halted');
    expect(daemon.impediments.join()).toContain('does not exist');
    await world.wait(60_000);
    expect(world.remote('a.md')).toBe('one');
    world.move('away', 'docs');
    await world.until(() => passes.at(-1)?.exitCode === 0, 'the source goes on');
    expect(daemon.impediments).toEqual([]);
    world.write('docs/a.md', 'two');
    await world.until(
      () => world.remote('a.md') === 'two',
      'the edit in the directory that came back arrives',
    );
  });

  test('that is replaced by an empty one halts it until that is approved', async () => {
    const world = await createDaemonWorld({ removals: { mode: 'expire', delay: '1s' } });
    world.write('docs/a.md', 'one');
    const { daemon, passes } = await world.start();
    world.remove('docs');
    world.makeDirectory('docs');
    await world.until(() => passes.at(-1)?.exitCode === 5, 'the source is halted');
    await world.wait(120_000);
    expect(world.remote('a.md')).toBe('one');
    expect(daemon.approve('other')).toEqual({ approved: [], missing: [], changed: [] });
    expect(daemon.approve(null)).toEqual({ approved: ['docs'], missing: [], changed: [] });
    await world.until(() => passes.at(-1)?.exitCode === 0, 'the approved pass ends');
    expect(world.remote('a.md')).not.toBe('one');
    world.write('docs/b.md', 'two');
    await world.until(() => world.remote('b.md') === 'two', 'the new directory is watched');
  });
});

test('a whole tree that is moved in arrives, and one that is moved out is kept', async () => {
  const world = await createDaemonWorld();
  for (let i = 0; i < 30; i++) world.write(`tree/d${i % 5}/f${i}.md`, `file ${i}`);
  await world.start();
  world.move('tree', 'docs/tree');
  await world.until(() => world.keys().length === 30, 'all arrive');
  world.move('docs/tree', 'out');
  world.write('docs/mark.md', '');
  await world.until(() => world.remote('mark.md') !== null, 'what came after arrives');
  expect(world.keys()).toHaveLength(31);
});

test('a file that goes and comes within one breath is there', async () => {
  const world = await createDaemonWorld();
  world.write('docs/a.md', 'one');
  await world.start();
  const file = world.at('docs/a.md');
  unlinkSync(file);
  writeFileSync(`${file}.new`, 'saved');
  renameSync(`${file}.new`, file);
  await world.until(() => world.remote('a.md') === 'saved', 'the saved file arrives');
  expect(readFileSync(file, 'utf8')).toBe('saved');
});

test('a state file in the source itself keeps nobody busy', async () => {
  const world = await createDaemonWorld({ stateFile: './docs/state.db' });
  world.write('docs/a.md', 'one');
  const { events } = await world.start();
  world.write('docs/b.md', 'two');
  await world.until(() => world.remote('b.md') === 'two', 'the file arrives');
  await world.wait(60_000, 100);
  const { mtimeMs } = statSync(world.at('docs/state.db-wal'));
  await world.wait(20_000, 100);
  expect(statSync(world.at('docs/state.db-wal')).mtimeMs).toBe(mtimeMs);
  expect(events.map(({ path }) => path)).toEqual(['a.md', 'b.md']);
});

test('a source that something keeps from being looked at is left alone until that is over', async () => {
  const world = await createDaemonWorld();
  world.write('docs/a.md', 'one');
  world.write('docs/.botsyncignore', '#'.repeat(1_100_000));
  const running = await world.start();
  expect(running.passes[0]?.exitCode).toBe(5);
  await world.wait(60_000);
  expect(running.passes).toHaveLength(1);
  world.write('docs/.botsyncignore', '');
  await world.until(() => world.remote('a.md') === 'one', 'it is looked at again');
});
