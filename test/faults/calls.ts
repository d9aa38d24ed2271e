import { expect, onTestFinished } from 'vitest';
import { platformError } from '../../src/run/sync-error.ts';
import type { Clients } from '../../src/run/platform/clients.ts';
import { exitCodeOfError } from '../../src/cli/usage-error.ts';
import { PlatformAccess } from '../../src/run/platform/platform-access.ts';
import type { Clock } from '../../src/domain/clock.ts';
import type { LookupFailure, Outcome } from '../../src/domain/failure.ts';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { load } from '../config/fixture.ts';
import { start } from '../emulator/fixture.ts';
import { NEVER, SimulatedClock } from '../platform/fixture.ts';
import type { Call } from './columns.ts';
import type { CallCell } from './expectation.ts';
import { SLOW, type FaultName } from './faults.ts';
import { waitOf } from './files.ts';
import { preparePlace, type Place } from './place.ts';
import { expectNoSecrets } from './secrets.ts';

/** A command's request, and how its failure is put into words. */
interface Command {
  readonly ask: (clients: Clients, conversationId: string) => Promise<Outcome<unknown, LookupFailure>>;
  readonly what: string;
  readonly effect: 'reads' | 'creates';
}

const COMMANDS: Record<Call, Command> = {
  'list-bots': {
    ask: ({ administration }) => administration().listBots(NEVER),
    what: 'the bots could not be listed',
    effect: 'reads',
  },
  'get-integration': {
    ask: ({ administration }) => administration().getIntegration('webchat', 'latest', false, NEVER),
    what: 'integration webchat',
    effect: 'reads',
  },
  'create-conversation': {
    ask: ({ conversations }) => conversations({}).create({ channel: 'channel', tags: {} }, NEVER),
    what: 'the conversation could not be created',
    effect: 'creates',
  },
  'create-message': {
    ask: ({ chat }, conversationId) =>
      chat().send({ conversationId, payload: { type: 'text', text: 'Hello' } }, NEVER),
    what: 'the message could not be sent',
    effect: 'creates',
  },
};

/** The emulator as it is known at a place. */
export function emulatorAt(place: Place, emulator: Emulator): Emulator {
  return place.url === null ? emulator : { ...emulator, baseUrl: place.url, chatUrl: `${place.url}/chat` };
}

/** Starts an emulator at a place, at the time of a clock. */
export async function emulateAt(place: Place, clock: Clock): Promise<Emulator> {
  const { emulator } = await start({
    now: () => place.platformTime(clock.now()),
    bots: [{ id: 'bot-1', name: 'One' }],
    recordRequests: true,
  });
  place.settle(emulator);
  return emulator;
}

/** `upload` of a configuration for a fault, with few attempts. */
export function uploadFor(fault: FaultName): object {
  return { attempts: 2, stallTimeout: SLOW.has(fault) ? '1s' : '30s' };
}

/**
 * A command whose request is struck, and the same once the fault is over. Fails where that does not do what it should,
 * or where something was created twice.
 */
export async function strikeCommand(fault: FaultName, call: Call): Promise<CallCell> {
  const clock = new SimulatedClock();
  const place = await preparePlace(fault, call);
  const emulator = await emulateAt(place, clock);
  const retries: string[] = [];
  const clients = (): Clients => {
    const loaded = load({ upload: uploadFor(fault) });
    const notices = {
      warn: (message: string) => retries.push(message),
      retrying: (reason: string) => retries.push(reason),
    };
    const access = new PlatformAccess({
      loaded,
      emulator: emulatorAt(place, emulator),
      env: {},
      clock,
      notices,
    });
    onTestFinished(() => access.close());
    return access.clients;
  };
  const { ask, what, effect } = COMMANDS[call];
  const conversationId = await newConversation(clients());
  const made = (): number =>
    emulator.listConversations('bot-1').length + emulator.listMessages(conversationId).length;
  const requests = (): number => emulator.requests.filter(({ operation }) => operation === call).length;
  const madeBefore = made();
  const requestsBefore = requests();
  const beganMs = clock.monotonic();
  await place.strike(null, clock.now());
  const outcome = await ask(clients(), conversationId);
  const tookMs = clock.monotonic() - beganMs;
  const error = outcome.kind === 'failed' ? platformError(what, outcome.failure, effect) : null;
  expectNoSecrets([error?.message, ...retries].join('\n'), emulator);
  expect(place.strayed()).toBe(0);
  const mayHaveBeenDone = error?.message.includes('may have been carried out') === true;
  const wasDone = made() - madeBefore;
  expect(wasDone).toBeLessThanOrEqual(1);
  if (error !== null && wasDone > 0) expect(mayHaveBeenDone).toBe(true);
  const tries = place.isSeen ? requests() - requestsBefore : retries.length + 1;

  await place.end();
  expect((await ask(clients(), conversationId)).kind).toBe('ok');
  expect(made()).toBe(madeBefore + wasDone + (effect === 'creates' ? 1 : 0));
  return {
    kind: 'call',
    tries,
    exitCode: (error === null ? 0 : exitCodeOfError(error)) as CallCell['exitCode'],
    waits: waitOf(tookMs),
    mayHaveBeenDone,
    says: error?.message ?? null,
  };
}

async function newConversation({ conversations }: Clients): Promise<string> {
  const created = await conversations({}).create({ channel: 'channel', tags: {} }, NEVER);
  if (created.kind === 'failed') throw new Error(created.failure.message);
  return created.value.id;
}
