import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { openChannel, stateConversations } from '../../src/run/notifier.ts';
import { PlatformAccess } from '../../src/run/platform/platform-access.ts';
import type { Clock } from '../../src/domain/clock.ts';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { Notifications } from '../../src/notify/notifications.ts';
import { load } from '../config/fixture.ts';
import { failing, snapshot, WORDING } from '../notify/fixture.ts';
import { NEVER, SimulatedClock } from '../platform/fixture.ts';
import { openStore, temporaryDirectory } from '../store/fixture.ts';
import { eventually } from '../files/watch-fixture.ts';
import { ManualClock } from '../manual-clock.ts';
import { emulateAt, emulatorAt, uploadFor } from './calls.ts';
import type { Told } from './columns.ts';
import type { ToldCell } from './expectation.ts';
import { stepMsFor, type FaultName } from './faults.ts';
import { waitOf } from './files.ts';
import { preparePlace, type Place } from './place.ts';
import { expectNoSecrets } from './secrets.ts';

const MINUTE = 60_000;

/** What tells people, at a place. */
interface Telling {
  readonly place: Place;
  readonly emulator: Emulator;
  /** Of a new run, which remembers what the one before told. */
  readonly notifications: () => Notifications;
  /** Log lines of warnings. */
  readonly logged: string[];
  /** Why requests were made again. */
  readonly retries: string[];
  readonly outcomes: string[];
  readonly messages: () => number;
  readonly requests: () => number;
}

/** Single passes that tell people of a file that fails: one with the fault, one when it is over. */
export async function strikeTellingOnce(fault: FaultName, operation: Told): Promise<ToldCell> {
  const clock = new SimulatedClock();
  const telling = await prepare(fault, operation, clock);
  await telling.place.strike(null, clock.now());
  const beganMs = clock.monotonic();
  await telling.notifications().once(NEVER);
  const described = describeTelling(telling, clock.monotonic() - beganMs);
  await telling.place.end();
  await telling.notifications().once(NEVER);
  expect(telling.messages()).toBeGreaterThan(0);
  const mended = described.outcome === 'sent' ? 'nothing' : 'next-pass';
  await expectSilence(telling);
  return { ...described, mended };
}

/** A daemon that tells people of a file that fails, with the fault and when it is over. */
export async function strikeTellingDaemon(fault: FaultName, operation: Told): Promise<ToldCell> {
  const clock = new ManualClock();
  const telling = await prepare(fault, operation, clock);
  await telling.place.strike(null, clock.now());
  const beganMs = clock.monotonic();
  const stopping = new AbortController();
  const ended = telling.notifications().run(clock.sleep, stopping.signal);
  await letTimePass(clock, stepMsFor(fault), () => telling.outcomes.length > 0, 'it is tried');
  const failedMs = clock.monotonic();
  const described = describeTelling(telling, failedMs - beganMs);
  await telling.place.end();
  await letTimePass(clock, 5000, () => telling.messages() > 0, 'people are told');
  const tookMs = clock.monotonic() - failedMs;
  const quietUntilMs = clock.monotonic() + 20 * MINUTE;
  await letTimePass(clock, 15_000, () => clock.monotonic() > quietUntilMs, 'time passes');
  stopping.abort();
  await ended;
  await expectSilence(telling);
  const mended = described.outcome === 'sent' ? 'nothing' : tookMs < 15 * MINUTE ? 'in-30s' : 'in-1h';
  return { ...described, mended };
}

async function prepare(fault: FaultName, operation: Told, clock: Clock): Promise<Telling> {
  const place = await preparePlace(fault, operation);
  const emulator = await emulateAt(place, clock);
  const loaded = load({
    upload: uploadFor(fault),
    notify: {
      conversation: { channel: 'channel', integration: { name: 'webchat', version: 'latest' } },
      on: ['failing'],
    },
  });
  const { config } = loaded;
  const { notify } = config;
  const logged: string[] = [];
  const retries: string[] = [];
  const outcomes: string[] = [];
  const store = openStore(join(temporaryDirectory(), 'state.db'));
  const notifications = (): Notifications => {
    const notices = {
      warn: (message: string) => logged.push(message),
      retrying: (reason: string) => retries.push(reason),
    };
    const input = { loaded, emulator: emulatorAt(place, emulator), env: {}, clock, notices };
    const access = new PlatformAccess(input).forMessages(notices.retrying);
    onTestFinished(() => access.close());
    if (notify === null) throw new Error('no notify');
    return new Notifications(notify, {
      memory: store.notices,
      channel: openChannel(
        access.clients,
        { config, host: WORDING.host, platformName: 'here', useEmulator: true },
        stateConversations(store.notices),
      ),
      snapshot: () => snapshot([failing(1)]),
      figures: () => ({ files: 0, bytes: 0, sentFiles: 0, sentBytes: 0, nextExpiryMs: null }),
      wording: WORDING,
      clock,
      log: { debug: () => undefined, warn: (message) => logged.push(message) },
      ended: (outcome) => outcomes.push(outcome),
    });
  };
  return {
    ...{ place, emulator, notifications, logged, retries, outcomes },
    messages: () =>
      emulator.listConversations('bot-1').reduce((sum, { id }) => sum + emulator.listMessages(id).length, 0),
    requests: () => emulator.requests.filter((one) => one.operation === operation).length,
  };
}

function describeTelling(telling: Telling, tookMs: number): Omit<ToldCell, 'mended'> {
  const { place, emulator, logged, retries, outcomes, requests } = telling;
  expectNoSecrets([...logged, ...retries].join('\n'), emulator);
  expect(place.strayed()).toBe(0);
  expect(outcomes).toHaveLength(1);
  expect(emulator.counts.has('list-bots')).toBe(false);
  return {
    kind: 'told',
    tries: place.isSeen ? requests() : retries.length + 1,
    outcome: outcomes[0] as ToldCell['outcome'],
    waits: waitOf(tookMs),
    says: logged[0] ?? null,
  };
}

/** What people were told is not told again. */
async function expectSilence(telling: Telling): Promise<void> {
  const told = telling.messages();
  const asked = telling.emulator.requests.length;
  await telling.notifications().once(NEVER);
  expect(telling.messages()).toBe(told);
  expect(telling.emulator.requests).toHaveLength(asked);
}

async function letTimePass(
  clock: ManualClock,
  stepMs: number,
  condition: () => boolean,
  what: string,
): Promise<void> {
  await eventually(async () => {
    await clock.advance(stepMs);
    return condition();
  }, what);
}
