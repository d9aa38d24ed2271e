import { expect, onTestFinished, test, vi } from 'vitest';
import type { WishRow } from '../../../src/cluster/membership.ts';
import { Lease, momentOf } from '../../../src/domain/lease.ts';
import { systemClock } from '../../../src/service/system-clock.ts';
import type { ClusterSituation } from '../../../src/library/cluster/cluster-situation.ts';
import type { OwnUnit } from '../../../src/library/cluster/own-units.ts';
import { ClusterPeople, type ClusterPeopleInput } from '../../../src/library/daemon/cluster-people.ts';
import type { RunningDaemon } from '../../../src/library/daemon/daemons.ts';
import { createLog } from '../../../src/service/logger.ts';
import { StateFileError } from '../../../src/state/database.ts';
import { StateReader } from '../../../src/state/state-reader.ts';
import { WorkingCopy } from '../../../src/state/working-copy.ts';
import { targetOf } from '../../../src/sync/sources/source.ts';
import { openStore, SHA, TARGET } from '../../state/fixture.ts';
import { createWorld } from '../../sync/world.ts';

/** Longer than any of it takes. */
const waitFor = (condition: () => void): Promise<void> => vi.waitFor(condition, 20_000);

const PLATFORM = 'https://api.example';

/** What a host has to do with telling people, with one state that has one source, and a file of it to be announced. */
async function createHost(more: Partial<ClusterPeopleInput> = {}) {
  const world = await createWorld({
    sources: [{ directory: './docs' }, { name: 'branch', directory: './gone', botId: 'bot-2' }],
  });
  const config = world.config();
  const [docs, branch] = config.sources;
  if (docs === undefined || branch === undefined) throw new Error('no sources');
  const state = openStore();
  const target = state.targetId(targetOf(config, docs, PLATFORM));
  const addSong = (key = 'song.mp3', sha256 = SHA): void => {
    state.notices.addAnnouncement({ target, key, sha256, url: `https://x/${key}`, notedAtMs: 1 });
  };
  addSong();
  const at = targetOf(config, docs, PLATFORM);
  const unit = { id: 1, name: 'docs', target: 7, at, sources: [docs], isPinned: false };
  const own: OwnUnit[] = [
    unit,
    { ...unit, id: 2, name: 'branch', target: 8, sources: [branch] },
    { ...unit, id: 9, name: 'notifications (1)', sources: [] },
  ];
  const running = { state, config: { ...config, sources: [docs] }, daemon: undefined as never };
  const daemons: { running: readonly RunningDaemon[] } = { running: [running] };
  const wishes: WishRow[] = [];
  const situation: ClusterSituation = {
    ...{ host: 'web1', trouble: null, alive: [], held: [], sources: [], own, blocked: new Map() },
    ...{ pinned: [], isDatabaseUp: true, failed: new Map(), isHaltedElsewhere: () => false },
    view: { wishes, units: [] as const, hosts: [] as const } as unknown as ClusterSituation['view'],
  };
  const host = {
    ...{ state, daemons, wishes, addSong, config },
    passedOn: [] as unknown[],
    taken: [] as number[],
    onWish: (): void => undefined,
  };
  const people = new ClusterPeople({
    cluster: {
      config: { schema: 'botsync' },
      database: { sql: () => Promise.resolve([]) },
      membership: {
        wish: async (id, kind, body) => {
          host.passedOn.push({ id, kind, ...(body as object) });
          await Promise.resolve();
          host.onWish();
        },
        takeWishes: (ids) => {
          host.taken.push(...ids);
          return Promise.resolve(ids.length);
        },
      },
    },
    config: () => config,
    platformName: () => PLATFORM,
    daemons,
    notifier: {
      attach: () => undefined,
      detach: () => Promise.resolve(),
      note: () => false,
      wake: () => undefined,
    },
    sources: () => [],
    platformNow: () => 0,
    share: () => 0,
    notificationEnded: () => undefined,
    log: createLog({ level: 'silent', format: 'json' }, () => undefined),
    situation: () => situation,
    reports: { known: new Map() } as unknown as ClusterPeopleInput['reports'],
    look: () => Promise.resolve(),
    wakeOthers: () => Promise.resolve(),
    ...more,
  });
  return { ...host, host, people };
}

/** Runs what passes files on and takes note of them until the test is over. */
function announcing({ people }: { readonly people: ClusterPeople }): void {
  const { promise, resolve } = createPromise();
  const running = people.announcing(() => promise);
  onTestFinished(async () => {
    resolve();
    await running;
  });
}

test('a file is passed on by the number that the ledger has for its target, once, and no other target gets one in the state', async () => {
  const { host, people, state, config } = await createHost();
  announcing({ people });
  await waitFor(() => {
    expect(state.notices.pendingAnnouncements()).toEqual([]);
  });
  expect(host.passedOn).toEqual([
    expect.objectContaining({
      id: 9,
      kind: 'announce',
      target: 7,
      key: 'song.mp3',
      url: 'https://x/song.mp3',
    }),
  ]);
  const others = config.sources.filter(({ name }) => name === 'branch');
  expect(others).toHaveLength(1);
  for (const source of others)
    expect(StateReader.prototype.targetId.call(state, targetOf(config, source, PLATFORM))).toBe(-1);
});

test('a state that is closed while the database answers is left alone', async () => {
  const { host, people, state, daemons } = await createHost();
  host.onWish = () => {
    daemons.running = [];
    state.close();
  };
  const ended = people.announcing(async () => {
    await waitFor(() => {
      expect(host.passedOn).toHaveLength(1);
    });
  });
  await expect(ended).resolves.toBeUndefined();
});

test('while many files are listed of which nobody has taken note, no more are', async () => {
  const { host, people, state, wishes } = await createHost();
  for (let id = 0; id < 50; id += 1) wishes.push({ id, unit: 9, kind: 'announce', body: {} });
  announcing({ people });
  await Promise.resolve();
  expect(host.passedOn).toEqual([]);
  wishes.pop();
  people.announce(wishes);
  await waitFor(() => {
    expect(state.notices.pendingAnnouncements()).toEqual([]);
  });
});

test('files are taken off the list once the ledger has them, all together, and not by who has no room for them', async () => {
  const copy = new WorkingCopy(':memory:');
  const { promise: shipped, resolve: takeShipment } = createPromise();
  let isShipping = false;
  const state = copy.begin(() => {
    isShipping = true;
    return shipped;
  });
  const noted: string[] = [];
  let isFull = true;
  const { host, people } = await createHost({
    notifier: {
      attach: () => undefined,
      detach: () => Promise.resolve(),
      wake: () => undefined,
      note: (announcement) => {
        if (isFull) throw new StateFileError('unwritable', 'disk full');
        state.notices.addAnnouncement(announcement);
        noted.push(announcement.key);
        return true;
      },
    },
  });
  const stop = new AbortController();
  const telling = people.tell({
    ...{ name: 'notifications (1)', state, isNew: false, stop: stop.signal, abort: stop.signal },
    lease: new Lease(10_000, systemClock, momentOf(systemClock)),
    loadTargets: () => {
      copy.loadTargets([{ ...TARGET, id: 7 }]);
      return Promise.resolve(new Set([7]));
    },
  });
  announcing({ people });
  const body = { target: 7, url: 'https://x/a', notedAtMs: 1 };
  const wishes = ['a', 'b'].map((key, id) => ({
    ...{ id, unit: 9, kind: 'announce' },
    body: { ...body, key, sha256: `0${id}` },
  }));
  people.announce(wishes);
  await waitFor(() => {
    expect(host.passedOn).toHaveLength(1);
  });
  isFull = false;
  people.announce([...wishes, { id: 2, unit: 9, kind: 'announce', body: null }]);
  await waitFor(() => {
    expect(isShipping).toBe(true);
  });
  expect(noted).toEqual(['a', 'b']);
  expect(host.taken).toEqual([]);
  takeShipment();
  await waitFor(() => {
    expect(host.taken).toEqual([0, 1, 2]);
  });
  stop.abort();
  await telling;
  state.close();
});

/** A promise that the test resolves. */
function createPromise(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

test('a state file that cannot be read ends no beat', async () => {
  const fail = (): never => {
    throw new StateFileError('damaged', 'malformed');
  };
  const { people } = await createHost({ sources: fail });
  expect(people.report()).toBeNull();
});
