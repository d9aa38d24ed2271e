import { listenerOf } from '../../src/run/observer.ts';
import type { Trigger } from '../../src/sync/events.ts';
import { onTestFinished } from 'vitest';
import type { FileEvent, Summary } from '../../src/domain/report.ts';
import type { Emulator } from '../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import type { RecordedRequest } from '../../src/emulator/request-log.ts';
import { DISK, type Disk } from '../../src/files/disk.ts';
import { openState } from '../../src/store/open.ts';
import type { StateStore } from '../../src/store/state-store.ts';
import { Daemon } from '../../src/sync/daemon/daemon.ts';
import type { SyncSettings } from '../../src/sync/pass/sync-context.ts';
import { unwatchedStages } from '../../src/sync/pass/sync-context.ts';
import { ManualClock } from '../manual-clock.ts';
import { eventually } from '../files/watch-fixture.ts';
import { AT_REST_MS, connectTo, createWorldWith, type World } from './world.ts';

/** A pass that a daemon made. */
export interface PassMade {
  readonly trigger: Trigger;
  readonly summary: Summary;
  readonly exitCode: number;
}

/** A daemon that runs on a world. */
export interface RunningDaemon {
  readonly daemon: Daemon;
  readonly events: FileEvent[];
  readonly passes: PassMade[];
  /** What else was told: "limited docs …", "lost docs …", "found docs", "overdue 3", "refused quota now", "warn …", "inform …". */
  readonly told: string[];
  /** Why attempts were made again: "source:path reason". */
  readonly retries: string[];
  /** Takes the configuration of the world as it is now. */
  readonly reload: (token?: string) => Promise<void>;
  /** Asks it to stop; resolves when it has, rejects with what it threw. */
  readonly stop: () => Promise<void>;
  /** Resolves when it ends by itself, with what it threw. */
  readonly failure: Promise<unknown>;
}

/** Keys that a daemon put away so far, in order. */
export const removedKeys = ({ events }: RunningDaemon): (string | null)[] =>
  events.flatMap(({ kind, outcome, key }) => (kind === 'remove' && outcome === 'done' ? [key] : [])).sort();

/** Paths that a daemon sent so far, as often as it did. */
export const sentPaths = ({ events }: RunningDaemon): string[] =>
  events.flatMap(({ kind, outcome, path }) =>
    (kind === 'upload' || kind === 'renew') && outcome === 'done' ? [path] : [],
  );

/** Writes files `docs/f0.md`, `docs/f1.md`, … that say "file 0", "file 1", … */
export function plant(world: World, count: number): void {
  for (let i = 0; i < count; i++) world.write(`docs/f${i}.md`, `file ${i}`);
}

/** Requests that an emulator has seen begin, of one operation. */
export const requestsFor = ({ emulator }: World, operation: 'upsert' | 'upload'): number =>
  emulator.counts.get(operation) ?? 0;

/** A world whose time only tests move, and daemons on it. */
export interface DaemonWorld extends World {
  readonly clock: ManualClock;
  /** Starts a daemon; resolves after its first pass. */
  readonly start: () => Promise<RunningDaemon>;
  /** Starts a daemon that may take its time. `state`: its records, which it closes; those of the state file by default. */
  readonly launch: (token?: string, state?: StateStore) => RunningDaemon;
  /** Lets time go by in steps, small ones by default, until a condition holds. */
  readonly until: (
    condition: () => boolean | Promise<boolean>,
    what: string,
    stepMs?: number,
  ) => Promise<void>;
  /**
   * Lets so much time go by, in steps, with real time for what has to go over the wire: on a busy machine less of that is
   * over by the end than on another.
   */
  readonly wait: (ms: number, stepMs?: number) => Promise<void>;
}

/** How much time goes by between two looks at a condition, milliseconds of the clock. */
const STEP_MS = 100;

/** Makes a world for daemons with one source, `docs/`. `grainMs`: see `ManualClock`; `random`: their jitter, from 0 to 1. */
export async function createDaemonWorld(
  fields: Record<string, unknown> = {},
  options: Partial<EmulatorOptions> = {},
  grainMs = 0,
  random = 0.5,
  disk: Disk = DISK,
): Promise<DaemonWorld> {
  const clock = new ManualClock(Date.now() + AT_REST_MS, grainMs);
  const world = await createWorldWith(clock, fields, options);
  const hanging = new Set<RecordedRequest>();
  const until = (
    condition: () => boolean | Promise<boolean>,
    what: string,
    stepMs = STEP_MS,
  ): Promise<void> =>
    eventually(async () => {
      await clock.advance(stepMs);
      return condition();
    }, what);

  const ownState = (): StateStore => {
    const opened = openState(world.config().stateFile, { checkThoroughly: true, nowMs: clock.now() });
    if (opened.kind !== 'open') throw new Error(opened.kind);
    return opened.store;
  };

  const launch = (token?: string, state = ownState()): RunningDaemon => {
    const events: FileEvent[] = [];
    const passes: PassMade[] = [];
    const told: string[] = [];
    const retries: string[] = [];
    const connections: { close: () => Promise<void> }[] = [];
    const settings = (secret?: string): SyncSettings => {
      const config = world.config();
      const connection = connectTo(world.emulator, config, clock, secret);
      connections.push(connection);
      const { platform, catalog } = connection;
      return { config, platformName: config.platform.baseUrl, platform, catalog };
    };
    const stopping = new AbortController();
    const daemon = new Daemon(settings(token), {
      state,
      clock,
      random: () => random,
      emit: listenerOf({
        event: (event) => events.push(event),
        warn: (message) => told.push(`warn ${message}`),
        inform: (message) => told.push(`inform ${message}`),
        retrying: (path, reason) => retries.push(`${path} ${reason}`),
        passEnded: (trigger, _sources, summary, exitCode) => passes.push({ trigger, summary, exitCode }),
        eventsLost: (source, reason) => told.push(`lost ${source} ${reason}`),
        watchLimited: (source, message) => told.push(`limited ${source} ${message}`),
        foundByRescan: (source) => told.push(`found ${source}`),
        renewalsOverdue: (count) => {
          if (count > 0) told.push(`overdue ${count}`);
        },
        differenceFound: ({ reason, key }) => told.push(`found ${reason} ${key}`),
        verified: ({ compared, same }) => told.push(`verified ${same} of ${compared}`),
        refused: (kind, reason) => told.push(`refused ${kind} ${reason === null ? 'no longer' : 'now'}`),
      }),
      stages: unwatchedStages(),
      disk,
      checkInPlace: () => {
        state.checkInPlace();
      },
      howToApprove: 'run: botsync approve',
      stop: stopping.signal,
      abort: stopping.signal,
    });
    const run = daemon.run();
    const failure = run.then(
      () => null,
      (error: unknown) => error,
    );
    let closed: Promise<void> | null = null;
    const stop = (): Promise<void> => {
      stopping.abort();
      closed ??= run.finally(async () => {
        for (const connection of connections) await connection.close();
        try {
          state.close();
        } catch {
          // It failed the daemon already.
        }
      });
      return closed;
    };
    onTestFinished(async () => {
      await stop().catch(() => undefined);
    });
    const reload = async (secret?: string): Promise<void> => {
      await daemon.reload(settings(secret));
    };
    return { daemon, events, passes, told, retries, reload, stop, failure };
  };

  return {
    ...world,
    clock,
    until,
    launch,
    start: async () => {
      const running = launch();
      await until(() => running.passes.length > 0, 'the first pass ends');
      return running;
    },
    wait: async (ms, stepMs = 1000) => {
      for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
        await clock.advance(Math.min(leftMs, stepMs));
        await answered(world.emulator, hanging);
      }
    },
  };
}

/** Makes a world with planted files and starts a daemon, which has sent them. */
export async function startDaemon(
  files: number,
  fields: Record<string, unknown> = {},
): Promise<{ readonly world: DaemonWorld; readonly running: RunningDaemon }> {
  const world = await createDaemonWorld(fields);
  plant(world, files);
  return { world, running: await world.start() };
}

/** So many requests at most are under way. */
const LATEST = 32;

/** A request that is not answered within so many turns of a millisecond is meant to hang. */
const HANGS_AFTER = 30;

/** Where more than this hang, hanging is what the test is about. */
const FEW_HANG = 3;

/** Lets the latest requests be answered, which takes real time however far the clock is moved. */
async function answered({ requests }: Emulator, hanging: Set<RecordedRequest>): Promise<void> {
  const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));
  await turn();
  if (hanging.size > FEW_HANG) return;
  const open = requests.slice(-LATEST).filter((one) => one.status === null && !hanging.has(one));
  for (let turns = 0; turns < HANGS_AFTER && open.some(({ status }) => status === null); turns += 1)
    await turn();
  for (const one of open) if (one.status === null) hanging.add(one);
  if (open.length > 0) await turn();
}
