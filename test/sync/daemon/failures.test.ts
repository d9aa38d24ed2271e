import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, test } from 'vitest';
import { StateFileError } from '../../../src/store/database.ts';
import { createDaemonWorld, requestsFor, type RunningDaemon } from '../daemon-world.ts';

const MINUTE = 60_000;

const sent = ({ events }: RunningDaemon): string[] =>
  events.flatMap(({ kind, outcome, path }) => (kind === 'upload' && outcome === 'done' ? [path] : []));

describe('refused credentials', () => {
  test('pause everything, are tried again slowly, and after a reload', async () => {
    const world = await createDaemonWorld();
    world.write('docs/a.md', 'one');
    const running = world.launch('wrong-token');
    await world.until(() => running.passes.length === 1, 'the first pass ends');
    expect(running.passes[0]?.exitCode).toBe(4);
    expect(running.daemon.impediments.join()).toContain('refuses the credentials');
    const before = world.emulator.counts.get('upsert') ?? 0;
    world.write('docs/b.md', 'two');
    await world.wait(30_000);
    expect(world.emulator.counts.get('upsert')).toBe(before);
    await world.wait(MINUTE);
    const retried = world.emulator.counts.get('upsert') ?? 0;
    expect(retried).toBeGreaterThan(before);
    await world.wait(80_000);
    expect(world.emulator.counts.get('upsert')).toBe(retried);
    await running.reload();
    await world.until(() => sent(running).length === 2, 'both arrive');
    expect(running.daemon.impediments).toEqual([]);
  });

  test('are not tried again because patterns changed', async () => {
    const world = await createDaemonWorld();
    world.write('docs/a.md', 'one');
    const running = world.launch('wrong-token');
    await world.until(() => running.passes.length === 1, 'the first pass ends');
    const before = requestsFor(world, 'upsert');
    world.write('docs/.botsyncignore', '*.tmp\n');
    await world.until(() => running.passes.length === 2, 'the pass for the patterns ends');
    expect(running.passes[1]).toMatchObject({
      trigger: 'ignore-file',
      summary: { uploaded: 0, unchanged: 0 },
    });
    expect(running.daemon.refusal).not.toBeNull();
    expect(requestsFor(world, 'upsert')).toBe(before);
  });

  test('are told once when it begins, and once when it is over', async () => {
    const world = await createDaemonWorld();
    world.write('docs/a.md', 'one');
    const running = world.launch('wrong-token');
    await world.until(() => running.told.length > 0, 'it is told');
    await world.wait(20 * MINUTE, 10_000);
    expect(running.told).toEqual(['refused credentials now']);
    await running.reload();
    await world.until(() => running.told.length > 1, 'it is over');
    expect(running.told).toEqual(['refused credentials now', 'refused credentials no longer']);
  });

  test('are not told to be over by a reload that did not mend them', async () => {
    const world = await createDaemonWorld();
    world.write('docs/a.md', 'one');
    const running = world.launch('wrong-token');
    await world.until(() => running.told.length > 0, 'it is told');
    await running.reload('wrong as well');
    await world.until(() => running.passes.length > 1, 'the next pass ends');
    await world.wait(MINUTE);
    expect(running.told).toEqual(['refused credentials now']);
  });

  test('of one bot leave the others alone', async () => {
    const world = await createDaemonWorld({
      sources: [{ directory: './docs' }, { directory: './more', botId: 'bot-unknown' }],
    });
    world.write('docs/a.md', 'one');
    world.write('more/b.md', 'two');
    const running = await world.start();
    expect(sent(running)).toEqual(['a.md']);
    world.write('docs/a.md', 'edited');
    await world.until(() => world.remote('a.md') === 'edited', 'the edit arrives');
  });
});

test('a refused file is sent again when it is edited, and no sooner', async () => {
  const world = await createDaemonWorld();
  await world.start();
  world.fail('upsert', 400, { key: 'a.md' });
  world.write('docs/a.md', 'one');
  await world.until(() => world.status().sources[0]?.refused === 1, 'it is refused');
  const tries = world.emulator.counts.get('upsert');
  await world.wait(40 * MINUTE, 10_000);
  expect(world.emulator.counts.get('upsert')).toBe(tries);
  world.write('docs/a.md', 'other');
  await world.until(() => world.remote('a.md') === 'other', 'the edit arrives');
});

test('a new file that is refused does not stand in its own way: it is sent once it may be', async () => {
  const day = 86_400_000;
  const world = await createDaemonWorld({
    sources: [
      { directory: './docs', name: 'docs', keyPrefix: 'docs/' },
      { directory: './more', name: 'more' },
    ],
    rules: [{ match: 'far.md', expiresAt: new Date(Date.now() + 91 * day).toISOString() }],
  });
  world.write('more/x.md', 'x');
  world.write('docs/far.md', 'far');
  const { events } = await world.start();
  world.clock.jumpWallClock(3 * day);
  await world.until(() => world.keys().includes('docs/far.md'), 'the file is sent');
  expect(events.filter(({ kind }) => kind === 'problem')).toEqual([]);
});

describe('a reload', () => {
  test('sends what other rules change, and nothing else', async () => {
    const world = await createDaemonWorld();
    world.write('docs/a.md', 'one');
    world.write('docs/b.txt', 'two');
    const running = await world.start();
    world.configure({ rules: [{ match: '*.md', tags: { kind: 'page' } }] });
    await running.reload();
    await world.until(() => running.passes.length === 2, 'the pass after the reload');
    expect(running.passes[1]).toMatchObject({ trigger: 'reload', summary: { uploaded: 1, unchanged: 1 } });
    expect(sent(running)).toEqual(expect.arrayContaining(['a.md', 'b.txt', 'a.md']));
  });

  test('takes up new sources, drops others, and goes on watching the rest', async () => {
    const world = await createDaemonWorld({ sources: [{ directory: './docs' }, { directory: './old' }] });
    world.makeDirectory('new');
    world.write('old/o.md', 'old');
    world.write('new/n.md', 'new');
    const running = await world.start();
    world.configure({ sources: [{ directory: './docs' }, { directory: './new' }] });
    await running.reload();
    await world.until(() => world.remote('n.md') === 'new', 'the new source arrives');
    expect([...running.daemon.watchedDirectories.keys()]).toEqual(['docs', 'new']);
    world.write('old/x.md', 'x');
    world.write('new/y.md', 'y');
    world.write('docs/z.md', 'z');
    await world.until(() => world.remote('y.md') !== null && world.remote('z.md') !== null, 'edits arrive');
    expect(world.remote('x.md')).toBeNull();
    expect(world.remote('o.md')).toBe('old');
  });

  test('in the midst of a pass ends it, and the next one does the rest', async () => {
    const world = await createDaemonWorld({ upload: { concurrency: 2 } });
    for (let i = 0; i < 50; i++) world.write(`docs/f${i}.md`, `file ${i}`);
    world.emulator.faults.add({ operation: 'upsert', kind: 'delay', delayMs: 5, times: 1000 });
    const running = world.launch();
    await world.until(() => sent(running).length > 3, 'some are sent');
    await running.reload();
    await world.until(() => world.keys().length === 50, 'all arrive');
    await world.until(() => running.passes.at(-1)?.exitCode === 0, 'the pass ends');
    expect(new Set(sent(running)).size).toBe(50);
  });
});

test('a reload after the end of the run is no reason to wait', async () => {
  const world = await createDaemonWorld();
  const running = await world.start();
  await running.stop();
  await running.reload();
});

test('a change is sent while all that a pass has in hand stands still', async () => {
  const world = await createDaemonWorld({ upload: { concurrency: 2, stallTimeout: '1h' } });
  world.write('docs/zz.md', 'one');
  const first = await world.start();
  await first.stop();
  for (let i = 0; i < 4; i++) world.write(`docs/f${i}.md`, `file ${i}`);
  for (let i = 0; i < 4; i++)
    world.emulator.faults.add({ operation: 'upsert', key: `f${i}.md`, kind: 'hang' });
  const before = requestsFor(world, 'upsert');
  const running = world.launch();
  await world.until(() => requestsFor(world, 'upsert') > before, 'the pass is under way');
  world.write('docs/zz.md', 'edited');
  await world.until(() => sent(running).length > 0, 'the edit is sent');
  expect(sent(running)).toEqual(['zz.md']);
  expect(world.remote('zz.md')).toBe('edited');
});

test('a state file that fails ends the daemon with what failed, and nothing is under way any more', async () => {
  const world = await createDaemonWorld();
  world.write('docs/a.md', 'one');
  const running = await world.start();
  await world.until(() => vandalise(world.config().stateFile), 'the file is free to be damaged');
  world.write('docs/b.md', 'two');
  world.write('docs/c.md', 'three');
  await world.clock.advance(20 * MINUTE);
  expect(await running.failure).toBeInstanceOf(StateFileError);
});

/** Overwrites all but the first page of a database; `false` while the daemon writes. */
function vandalise(stateFile: string): boolean {
  const vandal = new DatabaseSync(stateFile, { timeout: 0 });
  try {
    // What others have in memory is outdated by this.
    vandal.exec('UPDATE pass SET number = number + 1; PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    return false;
  } finally {
    vandal.close();
  }
  const pages = readFileSync(stateFile).fill(0x5a, 4096);
  writeFileSync(stateFile, pages);
  return true;
}
