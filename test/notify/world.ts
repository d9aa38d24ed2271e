import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openChannel, stateConversations } from '../../src/run/notifier.ts';
import { PlatformAccess } from '../../src/run/platform/platform-access.ts';
import type { LoadedConfig } from '../../src/config/load-config.ts';
import type { Emulator } from '../../src/emulator/emulator.ts';
import type { NotificationChannel } from '../../src/notify/channel.ts';
import { Notifications } from '../../src/notify/notifications.ts';
import type { Snapshot } from '../../src/notify/trouble.ts';
import type { StateStore } from '../../src/store/state-store.ts';
import { load } from '../config/fixture.ts';
import { start as startEmulator } from '../emulator/fixture.ts';
import { openStore, TARGET, temporaryDirectory } from '../store/fixture.ts';
import { eventually } from '../files/watch-fixture.ts';
import { ManualClock } from '../manual-clock.ts';
import { NOW, snapshot, WORDING } from './fixture.ts';

/** Everything that tells people, on an emulator, at a time that only tests move. */
export interface NotifyWorld {
  readonly emulator: Emulator;
  readonly clock: ManualClock;
  readonly store: StateStore;
  /** A target that files are announced of. */
  readonly target: number;
  /** What the next look sees. */
  shown: Snapshot;
  /** Log lines: "level message". */
  readonly logged: string[];
  readonly outcomes: string[];
  readonly channel: () => NotificationChannel;
  readonly notifications: () => Notifications;
  /** Starts telling; the function ends it. */
  readonly run: (notifications?: Notifications) => () => Promise<void>;
  /** The payloads in all conversations. */
  readonly messages: () => Record<string, unknown>[];
  /** Lets time go by until a condition holds. */
  readonly until: (condition: () => boolean, what: string) => Promise<void>;
  /** Lets so much time go by, with real time for what has to go over the wire. */
  readonly wait: (ms: number, stepMs?: number) => Promise<void>;
}

/** Makes such a world from fields of `notify`. */
export async function createNotifyWorld(fields: Record<string, unknown> = {}): Promise<NotifyWorld> {
  const clock = new ManualClock(NOW);
  const { emulator } = await startEmulator({ bots: [{ id: 'bot-1', name: 'One' }] });
  const rules = [{ match: '*.mp3', accessPolicies: ['public_content'] }];
  const loaded: LoadedConfig = load({
    rules,
    notify: {
      ...(fields['conversationId'] === undefined && { conversation: { channel: 'channel' } }),
      on: ['failing', 'recovered'],
      ...fields,
    },
  });
  const { config } = loaded;
  const notices = { warn: () => undefined, retrying: () => undefined };
  const access = new PlatformAccess({ loaded, emulator, env: {}, clock, notices });
  onTestFinished(() => access.close());
  if (config.notify === null) throw new Error('no notify');
  const { notify } = config;
  const store = openStore(join(temporaryDirectory(), 'state.db'));
  const logged: string[] = [];
  const outcomes: string[] = [];
  const log = (level: string) => (message: string) => void logged.push(`${level} ${message}`);
  const channel = (): NotificationChannel =>
    openChannel(
      access.clients,
      { config, host: WORDING.host, platformName: 'here', useEmulator: true },
      stateConversations(store.notices),
    );
  const notifications = (): Notifications =>
    new Notifications(notify, {
      memory: store.notices,
      channel: channel(),
      snapshot: () => world.shown,
      figures: () => ({ files: 3, bytes: 30, sentFiles: 1, sentBytes: 10, nextExpiryMs: null }),
      wording: WORDING,
      clock,
      log: { debug: () => undefined, warn: log('warn') },
      ended: (outcome) => outcomes.push(outcome),
    });
  const world: NotifyWorld = {
    emulator,
    clock,
    store,
    target: store.targetId(TARGET),
    shown: snapshot([]),
    logged,
    outcomes,
    channel,
    notifications,
    run: (running = notifications()) => {
      const stopping = new AbortController();
      const ended = running.run(clock.sleep, stopping.signal);
      const stop = (): Promise<void> => {
        stopping.abort();
        return ended;
      };
      onTestFinished(stop);
      return stop;
    },
    messages: () =>
      emulator
        .listConversations('bot-1')
        .flatMap(({ id }) => emulator.listMessages(id))
        .map(({ payload }) => payload as Record<string, unknown>),
    until: (condition, what) =>
      eventually(async () => {
        await clock.advance(1000);
        return condition();
      }, what),
    wait: async (ms, stepMs = 5000) => {
      for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
        await clock.advance(Math.min(leftMs, stepMs));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
  };
  return world;
}
