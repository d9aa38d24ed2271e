import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { StateKeeper } from '../../../src/run/daemon/state-keeper.ts';
import { SyncError } from '../../../src/run/sync-error.ts';
import { StateFileError } from '../../../src/store/database.ts';
import type { StateStore } from '../../../src/store/state-store.ts';
import { temporaryDirectory } from '../../service/fixture.ts';
import { ManualClock } from '../../manual-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

interface World {
  readonly directory: string;
  readonly stateFile: string;
  readonly clock: ManualClock;
  readonly keeper: StateKeeper;
  /** What was logged as an error. */
  readonly errors: string[];
  /** How often a state file was served. */
  readonly served: () => number;
  readonly ended: Promise<void>;
  readonly stop: AbortController;
}

/** A keeper whose daemon does, each time, what it is told; after the last time it waits for the stop. */
function keep(
  serves: readonly ((state: StateStore, world: Pick<World, 'clock' | 'stateFile'>) => Promise<void> | void)[],
  regain: () => Promise<void> = () => Promise.resolve(),
): World {
  const directory = temporaryDirectory();
  const stateFile = join(directory, 'state.db');
  const clock = new ManualClock();
  const errors: string[] = [];
  const stop = new AbortController();
  let served = 0;
  const keeper = new StateKeeper({
    stateFile,
    wasAbandoned: false,
    clock,
    log: {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (message) => errors.push(message),
    },
    stop: stop.signal,
    regain,
  });
  const ended = keeper.untilStopped(async (state) => {
    const serve = serves[served++];
    await (serve === undefined ? clock.sleep(Infinity, stop.signal) : serve(state, { clock, stateFile }));
  });
  onTestFinished(async () => {
    stop.abort();
    await ended.catch(() => undefined);
  });
  return { directory, stateFile, clock, keeper, errors, served: () => served, ended, stop };
}

const fail = (kind: StateFileError['kind']) => (): never => {
  throw new StateFileError(kind, `it is ${kind}`);
};

const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

test('a damaged state file is kept under another name and a new one served at once', async () => {
  const { clock, served, directory, errors, keeper } = keep([fail('damaged')]);
  await clock.advance(0);
  expect(served()).toBe(2);
  expect(readdirSync(directory).filter((name) => /\.damaged-.*Z$/u.test(name))).toHaveLength(1);
  expect(errors).toEqual([
    expect.stringMatching(/^THE STATE FILE IS DAMAGED \(it is damaged\)\. It is kept/u),
  ]);
  expect(keeper.trouble).toBeNull();
});

test.each(['damaged', 'gone'] as const)(
  'a state file that is %s again and again is tried ever more rarely',
  async (kind) => {
    const { clock, served, directory, keeper } = keep(times(1000, fail(kind)));
    await clock.advance(DAY);
    expect(served()).toBeGreaterThan(24);
    expect(served()).toBeLessThan(40);
    expect(keeper.trouble).toBe(`the state file was lost again within a short time: it is ${kind}`);
    expect(readdirSync(directory).length).toBeLessThan(3 * 40);
  },
);

test('one that was of use for a while and is lost then has nothing to do with the one before', async () => {
  const lostLater = async (_state: StateStore, { clock }: Pick<World, 'clock'>): Promise<void> => {
    await clock.sleep(HOUR, new AbortController().signal);
    fail('damaged')();
  };
  const { clock, served } = keep(times(10, lostLater));
  await clock.advance(10 * HOUR + MINUTE);
  expect(served()).toBe(11);
});

test('a state file that cannot be written is tried again when there is room, and the same one', async () => {
  const { clock, stateFile, served, keeper, errors } = keep([
    (state, { stateFile }) => {
      state.saveSource('docs', { directory: '/docs', identity: 'x', halt: null });
      // Nothing can be written where a directory is, whoever asks.
      mkdirSync(`${stateFile}.probe`);
      fail('unwritable')();
    },
    (state) => {
      expect(state.source('docs')?.identity).toBe('x');
    },
  ]);
  await clock.advance(10 * MINUTE);
  expect(served()).toBe(1);
  expect(keeper.trouble).toBe('the state file cannot be used: it is unwritable');
  expect(errors).toHaveLength(1);
  rmSync(`${stateFile}.probe`, { recursive: true });
  await clock.advance(15_000);
  expect(served()).toBeGreaterThan(1);
  expect(keeper.trouble).toBeNull();
  expect(existsSync(`${stateFile}.probe`)).toBe(false);
});

test('what lies beside the state file is waited for, and told of once', async () => {
  let failures = 5;
  const { clock, served, keeper, errors } = keep([fail('gone')], () =>
    failures-- > 0 ? Promise.reject(new SyncError('state-file', { reason: 'no lock' })) : Promise.resolve(),
  );
  await clock.advance(MINUTE);
  expect(served()).toBe(1);
  expect(keeper.trouble).toBe('no lock');
  await clock.advance(15_000);
  expect(served()).toBe(2);
  expect(errors.filter((error) => error.startsWith('no lock'))).toHaveLength(1);
  expect(keeper.trouble).toBeNull();
});

test('a lock that was lost is taken again, and the same state file served on', async () => {
  let regained = 0;
  const { clock, served, directory, errors } = keep([fail('unlocked'), fail('unlocked')], () => {
    regained += 1;
    return Promise.resolve();
  });
  await clock.advance(0);
  expect([served(), regained]).toEqual([3, 2]);
  expect(readdirSync(directory).some((name) => name.includes('damaged'))).toBe(false);
  expect(errors[0]).toContain('WAS NOT LOCKED');
});

test('what cannot be written at the end does not keep it from ending', async () => {
  const { clock, ended, stop, errors } = keep([
    async (state, world) => {
      state.close();
      state.close = () => {
        throw new StateFileError('unwritable', 'no room');
      };
      await world.clock.sleep(MINUTE, new AbortController().signal);
    },
  ]);
  stop.abort();
  await clock.advance(MINUTE);
  await ended;
  expect(errors).toEqual(['the state file could not be closed: no room']);
});

test('it ends when another botsync has come meanwhile', async () => {
  const { ended, served } = keep([fail('gone')], () =>
    Promise.reject(new SyncError('busy', { reason: 'held' })),
  );
  await expect(ended).rejects.toMatchObject({ message: 'held', code: 'busy' });
  expect(served()).toBe(1);
});

test('it ends at once when it is asked to while it waits', async () => {
  const { clock, ended, stop } = keep(times(1000, fail('gone')));
  await clock.advance(HOUR);
  stop.abort();
  await ended;
});

test('a defect is no trouble of the state file', async () => {
  const { ended } = keep([
    () => {
      throw new TypeError('a defect');
    },
  ]);
  await expect(ended).rejects.toThrow('a defect');
});
