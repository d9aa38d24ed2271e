import { expect } from 'vitest';
import {
  createDaemonWorld,
  requestsFor,
  type DaemonWorld,
  type RunningDaemon,
} from '../sync/daemon-world.ts';
import { eventually } from '../files/watch-fixture.ts';
import type { FileOperation } from './columns.ts';
import type { FileCell } from './expectation.ts';
import { stepMsFor, type FaultName } from './faults.ts';
import { expectNoSecrets } from './secrets.ts';
import { describeFile, differences, edit, setScene, STRUCK, triesOf } from './files.ts';

const MINUTE = 60_000;

const HOUR = 60 * MINUTE;

/** There is a rescan every 15 minutes: what it does not send is not sent by itself. */
const BEYOND_A_RESCAN_MS = 18 * MINUTE;

/**
 * A daemon that starts when files have changed and one of them is struck; other files change beside it; the fault is
 * over. Fails where in the end not all is in sync, or more was asked than was needed for it.
 */
export async function strikeDaemon(
  fault: FaultName,
  operation: FileOperation,
  pauses: FileCell['pauses'],
): Promise<FileCell> {
  const { place, world, before } = await setScene(fault, operation, createDaemonWorld);
  const running = world.launch();
  await letTimePass(world, stepMsFor(fault), () => running.passes.length > 0, 'the first pass ends');
  const [first] = running.passes;
  if (first === undefined) throw new Error('there was no pass');
  const tries = triesOf(world, operation) - before;
  // What came of a file is written down together with what came of others.
  await letTimePass(
    world,
    1,
    () => !world.status().failures.some(isUnderWay),
    'what came of it is on record',
  );
  const described = describeFile(world, place, { ...running, ...first }, tries);
  await changeMore(world, pauses);
  expect(place.strayed()).toBe(0);
  await place.end();

  const mended =
    first.exitCode === 0 && differences(world).length === 0 ? 'nothing' : await heal(world, running, fault);
  await expectQuiet(world, running);
  expect(differences(world)).toEqual([]);
  expect(running.daemon.impediments).toEqual([]);
  expect(running.passes.at(-1)?.exitCode).toBe(0);
  await running.stop();
  return { ...described, mended };
}

/**
 * A daemon that starts when files have changed and the platform is away for all of them: its pass waits, as does what changes
 * beside it, and all goes out by itself once that is over.
 */
export async function waitOut(fault: FaultName, operation: FileOperation): Promise<FileCell> {
  const { place, world } = await setScene(fault, operation, createDaemonWorld);
  const running = world.launch();
  await letTimePass(world, 20, () => running.daemon.activity.platformOutOfReach, 'it is noticed');
  await world.wait(MINUTE, 1000);
  expect(running.passes).toEqual([]);
  expect(running.events).toEqual([]);
  expectNoSecrets([...running.retries, JSON.stringify(world.status())].join('\n'), world.emulator);
  await changeMore(world, 'all');
  await place.end();
  const mended = await heal(world, running, fault);
  await letTimePass(world, 100, () => running.passes.length > 0, 'the pass ends');
  await expectQuiet(world, running);
  expect(differences(world)).toEqual([]);
  expect(running.passes.at(-1)?.exitCode).toBe(0);
  const says = running.retries.find((line) => line.includes(STRUCK)) ?? null;
  await running.stop();
  return {
    ...{ kind: 'file', tries: 1, exitCode: 0, stands: 'synced', platformHas: 'it' },
    ...{ pauses: 'all', waits: 'no-time', mended, says },
  };
}

/** Nothing more is asked, and the next pass finds that all is well. */
async function expectQuiet(world: DaemonWorld, running: RunningDaemon): Promise<void> {
  const isOver = isCalm(running);
  await letTimePass(world, 1000, isOver, 'nothing is on its way');
  const sent = requestsFor(world, 'upsert') + requestsFor(world, 'upload');
  const passes = running.passes.length;
  await letTimePass(world, 20_000, () => running.passes.length > passes && isOver(), 'the next pass ends');
  expect(requestsFor(world, 'upsert') + requestsFor(world, 'upload')).toBe(sent);
}

/** Files that change while a file is struck arrive as far as nothing keeps them. */
async function changeMore(world: DaemonWorld, pauses: FileCell['pauses']): Promise<void> {
  world.write('docs/e.md', 'e');
  world.write('docs/d.md', 'd');
  world.write('more/e.md', 'e');
  const arrives: Record<FileCell['pauses'], readonly [own: boolean, shrunk: boolean, other: boolean]> = {
    nothing: [true, true, true],
    bot: [false, false, true],
    room: [false, true, false],
    all: [false, false, false],
  };
  const arrived = (): readonly boolean[] => [
    world.remote('e.md') === 'e',
    world.remote('d.md') === 'd',
    world.remote('e.md', 'bot-2') === 'e',
  ];
  const asFar = (): boolean => arrived().every((has, one) => has || !(arrives[pauses][one] ?? false));
  await letTimePass(world, 20, asFar, 'what changed beside it arrives');
  await world.wait(5000, 100);
  expect(arrived()).toEqual(arrives[pauses]);
}

/** Waits until all is in sync, by itself or else after another edit; by what it came about. */
async function heal(
  world: DaemonWorld,
  running: RunningDaemon,
  fault: FaultName,
): Promise<FileCell['mended']> {
  const beganMs = world.clock.monotonic();
  const told = running.events.length;
  // Nothing changes before something is told.
  const isMended = (): boolean =>
    running.events.length > told && world.status().failures.length === 0 && differences(world).length === 0;
  const limitMs = fault === '429 with Retry-After of an hour' ? 2 * HOUR : BEYOND_A_RESCAN_MS;
  const tried = triesOf(world, 'upsert');
  for (let tookMs = 0; !isMended(); tookMs = world.clock.monotonic() - beganMs) {
    if (tookMs > limitMs) {
      if (triesOf(world, 'upsert') > tried) {
        await letTimePass(world, 20, isMended, 'what was tried again arrives');
        break;
      }
      expect(differences(world)).toEqual([STRUCK]);
      edit(world, fault, 'edited');
      await letTimePass(world, 100, isMended, 'the edit arrives');
      return 'edit';
    }
    const stepMs = tookMs < 3 * MINUTE ? 2000 : 20_000;
    await world.wait(stepMs, stepMs);
  }
  return bucket(world.clock.monotonic() - beganMs);
}

function isCalm({ daemon }: RunningDaemon): () => boolean {
  return () => daemon.activity.sending === 0;
}

function isUnderWay({ kind }: { readonly kind: string }): boolean {
  return kind === 'sending';
}

function bucket(tookMs: number): FileCell['mended'] {
  // A try again may come before the fault is over on a busy machine, and the next one takes twice as long.
  if (tookMs < 6 * MINUTE) return 'in-1m';
  if (tookMs < 25 * MINUTE) return 'in-15m';
  return 'in-1h';
}

async function letTimePass(
  world: DaemonWorld,
  stepMs: number,
  condition: () => boolean,
  what: string,
): Promise<void> {
  await eventually(async () => {
    await world.clock.advance(stepMs);
    return condition();
  }, what);
}
