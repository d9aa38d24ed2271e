import { describe, expect, test } from 'vitest';
import { healthOf } from '../../src/run/daemon/daemon-notifier.ts';
import { takeFigures, takeSnapshot, type Health } from '../../src/run/take-snapshot.ts';
import type { Snapshot } from '../../src/notify/trouble.ts';
import { openReader } from '../../src/store/open-reader.ts';
import type { StateReader } from '../../src/store/state-reader.ts';
import { createDaemonWorld } from '../sync/daemon-world.ts';
import { createWorld, type World } from '../sync/world.ts';

const DAY = 86_400_000;
const WELL: Health = {
  credentials: { kind: 'taken' },
  reach: 'there',
  hasBegun: true,
  configurationProblem: null,
};

function read<T>(world: World, look: (state: StateReader) => T): T {
  const opened = openReader(world.config().stateFile, false);
  if (opened.kind !== 'open') throw new Error(opened.kind);
  try {
    return look(opened.reader);
  } finally {
    opened.close();
  }
}

function shown(world: World, nowMs: number, health = WELL): Snapshot {
  const config = world.config();
  return read(world, (state) => takeSnapshot(state, config, config.platform.baseUrl, nowMs, health));
}

/** What fails for one file alone. */
const LOCKED = { kind: 'status', status: 409, type: 'ResourceLockedConflict' } as const;

test('a snapshot says what fails, what is halted, and what could not be renewed', async () => {
  const sources = [{ directory: './docs' }, { directory: './gone' }];
  const world = await createWorld({
    sources,
    rules: [{ match: 'e.md', expiresIn: '10d' }],
    upload: { attempts: 1 },
  });
  world.write('docs/e.md', 'x');
  await world.pass();
  expect(shown(world, world.clock.now())).toEqual({ sources: ['docs', 'gone'], troubles: [], unknown: [] });
  world.configure({ sources: [{ directory: './docs' }, { directory: './away', name: 'gone' }] });
  world.emulator.faults.add({ operation: 'upsert', key: 'b.md', ...LOCKED });
  world.emulator.faults.add({ operation: 'upsert', key: 'c.md', kind: 'status', status: 400 });
  world.emulator.faults.add({ operation: 'upsert', key: 'e.md', ...LOCKED });
  for (const name of ['b', 'c', 'd']) world.write(`docs/${name}.md`, 'x');
  world.clock.advance(9 * DAY);
  await world.pass();
  const { troubles } = shown(world, world.clock.now());
  expect(troubles).toContainEqual({
    kind: 'failing',
    source: 'docs',
    count: 3,
    path: 'b.md',
    reason: expect.stringContaining('409') as string,
  });
  expect(troubles).toContainEqual({ kind: 'expiring', source: 'docs', count: 1 });
  expect(troubles).toContainEqual({
    kind: 'halted',
    source: 'gone',
    halt: expect.objectContaining({ kind: 'missing' }) as unknown,
  });
});

test('what nobody can tell yet is unknown', async () => {
  const world = await createWorld();
  await world.pass();
  const health: Health = {
    credentials: { kind: 'unknown' },
    reach: 'unknown',
    hasBegun: false,
    configurationProblem: null,
  };
  expect(shown(world, world.clock.now(), health)).toEqual({
    sources: ['docs'],
    troubles: [],
    unknown: [
      { kind: 'expiring', source: 'docs' },
      { kind: 'credentials', source: null },
      { kind: 'out-of-reach', source: null },
    ],
  });
});

test('the figures of a summary', async () => {
  const world = await createWorld({ rules: [{ match: 'e.md', expiresIn: '10d' }] });
  world.write('docs/e.md', 'abc');
  await world.pass();
  world.clock.advance(DAY);
  const sinceMs = world.clock.now();
  world.write('docs/new.md', 'hello');
  await world.pass();
  const config = world.config();
  const figures = read(world, (state) =>
    takeFigures(state, config, config.platform.baseUrl, world.clock.now(), sinceMs),
  );
  expect(figures).toMatchObject({ files: 2, bytes: 8, sentFiles: 1, sentBytes: 5 });
  expect(Math.round(((figures.nextExpiryMs ?? 0) - sinceMs) / DAY)).toBe(9);
});

test('a configuration that cannot be loaded is a trouble of its own', async () => {
  const world = await createWorld();
  const health = { ...WELL, configurationProblem: 'a.json:4:15: no value' };
  expect(shown(world, world.clock.now(), health).troubles).toEqual([
    { kind: 'configuration', reason: 'a.json:4:15: no value' },
  ]);
});

describe('the health of a daemon', () => {
  test('whose credentials are refused says why', async () => {
    const world = await createDaemonWorld();
    world.write('docs/a.md', 'one');
    const running = world.launch('wrong-token');
    expect(healthOf(running.daemon, 'no value')).toEqual({
      ...{ credentials: { kind: 'unknown' }, reach: 'unknown', hasBegun: true },
      configurationProblem: 'no value',
    });
    await world.until(() => running.passes.length === 1, 'the first pass ends');
    expect(healthOf(running.daemon, null)).toMatchObject({
      credentials: { kind: 'refused', reason: expect.stringContaining('401') as string },
    });
    await running.reload();
    await world.until(() => healthOf(running.daemon, null).credentials.kind === 'taken', 'they are taken');
    expect(healthOf(running.daemon, null)).toEqual(WELL);
  });

  test('whose platform does not answer says so', async () => {
    const world = await createDaemonWorld();
    for (let i = 0; i < 30; i++) world.write(`docs/f${i}.md`, 'x');
    world.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 503, times: Infinity });
    const { daemon } = world.launch();
    await world.until(() => healthOf(daemon, null).reach === 'lost', 'the outage is noticed');
    world.emulator.faults.clear();
    await world.until(() => healthOf(daemon, null).reach === 'there', 'it is over');
  });
});
