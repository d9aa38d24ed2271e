import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Emulator } from '../../../src/emulator/emulator.ts';
import { DaemonNotifier, type NotifiedDaemon } from '../../../src/run/daemon/daemon-notifier.ts';
import { DaemonPlatform } from '../../../src/run/daemon/daemon-platform.ts';
import { load } from '../../../src/run/run-base.ts';
import type { NotifyingUnit } from '../../../src/run/holding.ts';
import { type Notifier, stateConversations } from '../../../src/run/notifier.ts';
import type { Log } from '../../../src/service/logger.ts';
import { start as startEmulator } from '../../emulator/fixture.ts';
import { openStore, temporaryDirectory } from '../../store/fixture.ts';

const PATIENCE = { timeout: 10_000, interval: 10 };

/** What the records call refused credentials. */
const REFUSED = '["credentials"]';

/** The notifications of a process on an emulator, and daemons that are refused. */
interface World {
  readonly emulator: Emulator;
  readonly notifications: DaemonNotifier;
  readonly log: readonly string[];
  /** Makes what sends notifications under the configuration. */
  readonly open: () => Promise<Notifier | null>;
  /** Attaches a daemon whose credentials the platform refuses. */
  readonly attach: (unit: NotifyingUnit | null) => NotifiedDaemon;
  readonly texts: () => string[];
}

async function createWorld(): Promise<World> {
  const { emulator } = await startEmulator({ bots: [{ id: 'bot-1', name: 'One' }] });
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'docs'));
  const file = join(directory, 'botsync.json');
  const config = {
    platform: {
      ...{ baseUrl: emulator.baseUrl, token: 'env:TOKEN', botId: 'bot-1', chatUrl: emulator.chatUrl },
      chat: { webhookId: emulator.webhookId, userKey: 'env:USER_KEY' },
    },
    sources: [{ directory: './docs' }],
    notify: { conversation: { channel: 'channel' } },
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  const log: string[] = [];
  const note = (message: string): void => {
    log.push(message);
  };
  const logger: Log = { debug: note, info: note, warn: note, error: note };
  const target = { config: file, emulator: false };
  const env = { TOKEN: emulator.token, USER_KEY: emulator.userKey };
  const platform = new DaemonPlatform({ target, env, log: logger }, () => undefined);
  onTestFinished(() => platform.close());
  const loaded = load(target);
  const notifications = new DaemonNotifier({
    log: logger,
    configurationProblem: () => null,
    platformNow: Date.now,
    ended: () => undefined,
  });
  onTestFinished(() => notifications.close());
  const activity = {
    activity: 'watching' as const,
    ...{ isFirstPassOver: true, watchedDirectories: 0, queued: 0, sending: 0 },
    ...{ platformOutOfReach: false, outage: null, refusal: '401', shortage: null, blocked: null },
    ...{ nextPass: null, failedAgain: null, renewalsAgain: null, pause: null },
  };
  return {
    ...{ emulator, notifications, log },
    open: async () => {
      const { access, notifier } = await platform.open(loaded);
      const before = platform.take(access);
      if (before !== null) platform.retire(before, undefined);
      return notifier;
    },
    attach: (unit) => {
      const attached = {
        daemon: { activity, refusal: '401' },
        state: openStore(),
        config: () => loaded.config,
        unit,
      };
      notifications.attach(attached);
      return attached;
    },
    texts: () =>
      emulator
        .listConversations('bot-1')
        .flatMap(({ id }) => emulator.listMessages(id))
        .map(({ payload }) => (payload as { readonly text?: string }).text ?? ''),
  };
}

test('each daemon sends its own, also under the next configuration, and nothing once it is detached', async () => {
  const { notifications, open, attach, texts, log } = await createWorld();
  await notifications.adopt(await open());
  const [docs, news] = [attach(null), attach(null)];
  await expect.poll(() => texts().length, PATIENCE).toBe(2);
  const told = (): boolean[] => [docs, news].map(({ state }) => state.notices.told().has(REFUSED));
  await expect.poll(told, PATIENCE).toEqual([true, true]);
  await notifications.detach(docs.state);
  // What was told would be told again.
  for (const { state } of [docs, news]) state.notices.saveTold(REFUSED, null);
  await notifications.adopt(await open());
  await expect.poll(() => texts().length, PATIENCE).toBe(3);
  await expect.poll(told, PATIENCE).toEqual([false, true]);
  await notifications.adopt(null);
  expect(notifications.announces).toBe(false);
  expect(log.filter((line) => line.startsWith('notif') && line !== 'notification sent')).toEqual([]);
});

test('a message about a unit is sent under its lease, and names the unit', async () => {
  const { notifications, open, attach, texts } = await createWorld();
  await notifications.adopt(await open());
  const conversations = stateConversations(openStore().notices);
  let isProven = false;
  let prove = (): void => undefined;
  const proven = new Promise<void>((resolve) => {
    prove = resolve;
  });
  let noteAsked = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    noteAsked = resolve;
  });
  const lease: NotifyingUnit['lease'] = {
    mayBegin: () => isProven,
    mayFinish: () => true,
    proven: () => {
      noteAsked();
      return proven;
    },
  };
  attach({ name: 'docs', lease, conversations });
  await asked;
  expect(texts()).toEqual([]);
  isProven = true;
  prove();
  await expect
    .poll(texts, PATIENCE)
    .toEqual([expect.stringMatching(/^botsync on .* \(docs\): the platform refuses/u)]);
});

test('a state that cannot be used ends the notifications about it, and no others', async () => {
  const { notifications, open, attach, texts, log } = await createWorld();
  const [broken, sound] = [attach(null), attach(null)];
  broken.state.close();
  await notifications.adopt(await open());
  expect(log).toContain('notifications are paused');
  await expect.poll(() => texts().length, PATIENCE).toBe(1);
  await expect.poll(() => sound.state.notices.told().has(REFUSED), PATIENCE).toBe(true);
  sound.state.close();
  notifications.wake();
  await expect.poll(() => log, PATIENCE).toContain('notifications are off');
});
