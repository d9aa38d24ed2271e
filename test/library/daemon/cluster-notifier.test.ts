import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Lease, momentOf } from '../../../src/domain/lease.ts';
import type { AllSeen } from '../../../src/library/cluster/snapshot-of-all.ts';
import type { ToldBefore } from '../../../src/library/cluster/told-before.ts';
import { ClusterNotifier } from '../../../src/library/daemon/cluster-notifier.ts';
import { DaemonNotifier } from '../../../src/library/daemon/daemon-notifier.ts';
import { DaemonPlatform } from '../../../src/library/daemon/daemon-platform.ts';
import { load } from '../../../src/library/load.ts';
import type { NotifiedRun, Notifier } from '../../../src/library/notifier.ts';
import { SUMMARY } from '../../../src/notify/decide.ts';
import type { Log } from '../../../src/service/logger.ts';
import { StateFileError } from '../../../src/state/database.ts';
import type { StateStore } from '../../../src/state/state-store.ts';
import { configText } from '../../config/fixture.ts';
import { openStore, TARGET, temporaryDirectory } from '../../state/fixture.ts';
import { ManualClock } from '../../watch/manual-clock.ts';

const LEASE_MS = 10_000;
const NOTHING: ToldBefore = { told: new Map(), conversations: new Map() };

/** Begins to tell people for all, on a clock that stands still. */
function begin(
  toldBefore = NOTHING,
  isNew = true,
  {
    state = openStore(),
    telling,
    seen = () => ({ units: [], hosts: [], wanted: new Set() }),
  }: { state?: StateStore; telling?: DaemonNotifier; seen?: () => AllSeen } = {},
) {
  const clock = new ManualClock();
  const lease = new Lease(LEASE_MS, clock, momentOf(clock));
  const stop = new AbortController();
  const host = { attached: [] as NotifiedRun[], detached: 0, looks: 0, place: 'here' as string | null };
  const notifier = new ClusterNotifier({
    notifier: telling ?? {
      attach: (run) => host.attached.push(run),
      detach: () => {
        host.detached += 1;
        return Promise.resolve();
      },
      note: (announcement) => {
        state.notices.addAnnouncement(announcement);
        return true;
      },
    },
    clock,
    place: () => host.place,
    look: () => {
      host.looks += 1;
      return Promise.resolve();
    },
    seen,
    toldBefore: () => Promise.resolve(toldBefore),
    ended: () => undefined,
  });
  let outcome: unknown = 'running';
  const running = notifier
    .run({
      ...{ name: 'notifications (1)', state, lease, isNew, stop: stop.signal, abort: stop.signal },
      loadTargets: () => Promise.resolve(new Set([state.targetId(TARGET)])),
    })
    .then(
      () => (outcome = 'ended'),
      (error: unknown) => (outcome = error),
    );
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const prove = (): void => {
    lease.prove(momentOf(clock));
  };
  return { ...{ clock, state, lease, stop, host, notifier, running, prove }, outcome: () => outcome };
}

/** Lets the time pass after which every living host has said how it stands. */
async function hearAll({ clock, prove }: ReturnType<typeof begin>): Promise<void> {
  await clock.advance(LEASE_MS + 10_000);
  prove();
  await clock.advance(0);
}

test('a new holder tells nothing before all hosts were heard, and never unless nobody else does', async () => {
  const begun = begin();
  const { clock, host, prove, stop, running } = begun;
  await clock.advance(LEASE_MS + 9_999);
  expect({ ...host, attached: host.attached.length }).toMatchObject({ attached: 0, looks: 0 });
  // Another host may hold them by now: it looks, and waits.
  await clock.advance(1);
  expect({ ...host, attached: host.attached.length }).toMatchObject({ attached: 0, looks: 1 });
  prove();
  await clock.advance(0);
  expect(host.attached).toHaveLength(1);
  // So it does before each look of its own.
  await clock.advance(LEASE_MS);
  let isLooked = false;
  const refreshed = host.attached[0]?.refresh?.().then(() => (isLooked = true));
  await clock.advance(0);
  expect(isLooked).toBe(false);
  prove();
  await refreshed;
  expect(host.looks).toBe(2);
  expect(host.detached).toBe(0);
  stop.abort();
  await running;
  expect(host.detached).toBe(1);
});

test('who tells people for all first knows what hosts told by themselves, and in which conversation', async () => {
  const told = new Map([['["failing","docs"]', { toldAtMs: 5, count: 3 }]]);
  const conversations = new Map([
    ['a', { id: 'c1', isProven: true }],
    ['b', { id: 'c2', isProven: false }],
  ]);
  const begun = begin({ told, conversations });
  await hearAll(begun);
  const { notices } = begun.state;
  expect(notices.told().get('["failing","docs"]')).toEqual({ toldAtMs: 5, count: 3 });
  expect(notices.conversation('a')).toEqual({ id: 'c1', isProven: true });
  expect(notices.conversation('b')).toEqual({ id: 'c2', isProven: false });
  // The first summary is due from now on.
  expect(begun.notifier.summedUpMs).toBe(Date.UTC(2026, 0, 1));

  const later = begin({ told: new Map([[SUMMARY, { toldAtMs: 7, count: null }]]), conversations: new Map() });
  await hearAll(later);
  expect(later.notifier.summedUpMs).toBe(7);
  const next = begin({ told, conversations }, false);
  await hearAll(next);
  expect(next.state.notices.told()).toEqual(new Map());
});

test('after a change of the configuration people are told nothing more where they are not to be told', async () => {
  const begun = begin();
  const { host, notifier, outcome } = begun;
  await hearAll(begun);
  await notifier.reload();
  expect(host.detached).toBe(0);
  host.place = null;
  await notifier.reload();
  expect(host.detached).toBeGreaterThan(0);
  await begun.running;
  expect(outcome()).toBe('ended');
  expect(notifier.summedUpMs).toBeNull();
  // Also where they are not told yet.
  const early = begin();
  await early.clock.advance(0);
  early.host.place = 'elsewhere';
  await early.notifier.reload();
  await early.running;
  expect(early.host.attached).toEqual([]);
});

test('files to be announced that make no sense are passed over, and the others are noted', async () => {
  const begun = begin();
  await hearAll(begun);
  const { notifier, state } = begun;
  const song = {
    target: state.targetId(TARGET),
    key: 'song.mp3',
    sha256: '07',
    url: 'https://x/',
    notedAtMs: 1,
  };
  const nonsense = [
    ...[null, 5, [], {}, { ...song, url: null }, { ...song, sha256: 7 }],
    ...[song.target + 0.5, 999, -1, 1e300].map((target) => ({ ...song, target })),
    ...[0.5, 1e300].map((notedAtMs) => ({ ...song, notedAtMs })),
  ];
  for (const body of nonsense) {
    expect(await notifier.note([body]), JSON.stringify(body)).toBe(true);
    expect(state.notices.pendingAnnouncements()).toEqual([]);
  }
  expect(await notifier.note([...nonsense, song])).toBe(true);
  expect(state.notices.pendingAnnouncements()).toEqual([{ ...song, sha256: Buffer.from([7]) }]);
});

test('a host that cannot remember what people were told lets another one tell them', async () => {
  const begun = begin();
  await hearAll(begun);
  const full = new StateFileError('unwritable', 'disk full');
  begun.host.attached[0]?.failed?.(full);
  await begun.running;
  expect(begun.outcome()).toBe(full);
  const broken = begin();
  await hearAll(broken);
  broken.host.attached[0]?.failed?.(new TypeError('a defect'));
  await broken.running;
  expect(broken.outcome()).toBe('ended');
});

/** What tells people, in the emulator, and what its log said. */
async function createTelling(): Promise<{ telling: DaemonNotifier; notifier: Notifier; log: string[] }> {
  const config = join(temporaryDirectory(), 'botsync.config.json');
  const fields = { platform: { botId: 'bot-1' }, notify: { conversation: { channel: 'channel' } } };
  writeFileSync(config, configText(fields), { mode: 0o600 });
  const said: string[] = [];
  const note = (message: string): void => {
    said.push(message);
  };
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const target = { config, emulator: true };
  const platform = new DaemonPlatform(target, process.env, log, () => undefined);
  onTestFinished(() => platform.close());
  const { access, notifier } = await platform.open(load(target));
  platform.take(access);
  if (notifier === null) throw new Error('nobody is told');
  const telling = new DaemonNotifier(log);
  onTestFinished(() => telling.close());
  return { telling, notifier, log: said };
}

test('who tells people lets go of that when a state file fails meanwhile', async () => {
  const { telling, notifier, log } = await createTelling();
  await telling.adopt(notifier);
  const full = new StateFileError('unwritable', 'disk full');
  const seen = (): never => {
    throw full;
  };
  const begun = begin(NOTHING, true, { telling, seen });
  await hearAll(begun);
  await begun.running;
  expect(begun.outcome()).toBe(full);
  expect(log).toContain('notifications are off');
});

test('so it does when a reload finds that it cannot read what they were told', async () => {
  const { telling, notifier, log } = await createTelling();
  const state = openStore();
  const begun = begin(NOTHING, false, { state, telling });
  await hearAll(begun);
  expect(begun.outcome(), 'nobody is to be told').toBe('running');
  state.close();
  await telling.adopt(notifier);
  await begun.running;
  expect(begun.outcome(), 'that is no trouble of the state file').toBe('ended');
  expect(log).toContain('notifications are paused');
});
