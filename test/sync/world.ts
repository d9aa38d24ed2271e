import { listenerOf, type SyncObserver } from '../../src/run/observer.ts';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { onTestFinished } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { renderProblem } from '../../src/config/problem.ts';
import type { Config } from '../../src/config/config.ts';
import type { Clock } from '../../src/domain/clock.ts';
import type { Approved } from '../../src/domain/guard.ts';
import { emptySummary, type FileEvent, type Summary } from '../../src/domain/report.ts';
import { startEmulator, type Emulator } from '../../src/emulator/emulator.ts';
import type { Fault } from '../../src/emulator/faults.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { PlatformCatalog } from '../../src/platform/catalog.ts';
import { PlatformFiles } from '../../src/platform/files.ts';
import { Http } from '../../src/platform/http.ts';
import { identityHeaders } from '../../src/platform/api.ts';
import { Pacer } from '../../src/platform/pacer.ts';
import { openReader } from '../../src/store/open-reader.ts';
import { openState } from '../../src/store/open.ts';
import type { StateStore } from '../../src/store/state-store.ts';
import { Claims } from '../../src/sync/plan/claims.ts';
import { dryRun, type DryRunResult } from '../../src/sync/plan/dry-run.ts';
import { overview } from '../../src/sync/plan/overview.ts';
import { type Overview } from '../../src/domain/status.ts';
import { createSyncContext } from '../../src/sync/pass/create-sync-context.ts';
import { NO_CHANGE_FEED, unwatchedStages, type SyncContextInput } from '../../src/sync/pass/sync-context.ts';
import type { SendAgain } from '../../src/sync/pass/note-status.ts';
import { KeyLocks } from '../../src/sync/pass/key-locks.ts';
import { runPass } from '../../src/sync/pass/pass.ts';
import { findSources } from '../../src/sync/sources/source.ts';
import { closeAtEnd } from '../store/fixture.ts';

/** A clock that follows the machine's at a distance, and that waiting moves. */
class MovableClock implements Clock {
  #aheadMs: number;
  readonly sleeps: number[] = [];

  constructor(aheadMs: number) {
    this.#aheadMs = aheadMs;
  }

  readonly now = (): number => Date.now() + this.#aheadMs;
  readonly monotonic = (): number => performance.now() + this.#aheadMs;
  readonly sleep = async (ms: number): Promise<void> => {
    this.sleeps.push(ms);
    this.#aheadMs += Math.ceil(ms);
    await turn();
  };

  advance(ms: number): void {
    this.#aheadMs += ms;
  }
}

/** How a pass ended, and what it told. */
export interface PassOutcome {
  readonly summary: Summary;
  readonly exitCode: number;
  readonly events: FileEvent[];
  /** What was warned of besides. */
  readonly warned: readonly string[];
  /** Requests to the platform and its store that this pass made. */
  readonly requests: number;
}

/** How a pass departs from the usual. */
export interface PassOptions extends Partial<Omit<SyncContextInput, 'emit'>> {
  /** Follows the pass in place of what collects events and warnings. */
  readonly report?: SyncObserver;
  readonly isForced?: (path: string) => boolean;
  readonly allowRemovals?: boolean;
  /** What is let through besides. */
  readonly approved?: (source: string) => Approved;
  /** Whether every page of the state file is read first: by default it is. */
  readonly checkThoroughly?: boolean;
  /** Called with the state file before the pass. */
  readonly prepare?: (state: StateStore) => void;
  /** How long the platform's word on what was sent is waited for, once all is sent; by default it is not asked. */
  readonly confirmForMs?: number;
}

type FaultDetails = Partial<Omit<Extract<Fault, { kind: 'status' }>, 'kind' | 'operation' | 'status'>>;

/** A directory with a config, a state file, and an emulator beside it. */
export interface World {
  readonly directory: string;
  readonly emulator: Emulator;
  /** Writes a file below the world's directory; parents are made. */
  readonly write: (path: string, content: string | Buffer) => void;
  /** The absolute path of what is below the world's directory. */
  readonly at: (path: string) => string;
  /** Deletes a file, or a directory with all that it has. */
  readonly remove: (path: string) => void;
  readonly move: (from: string, to: string) => void;
  readonly makeDirectory: (path: string) => void;
  /** Replaces top-level fields of the configuration; of `platform` the bot, the address and the operations need not be given. */
  readonly configure: (fields: Record<string, unknown>) => void;
  readonly config: () => Config;
  readonly pass: (input?: PassOptions) => Promise<PassOutcome>;
  readonly plan: (
    input?: Pick<PassOptions, 'disk'>,
  ) => Promise<
    Pick<PassOutcome, 'summary' | 'exitCode' | 'events'> & Pick<DryRunResult, 'additions' | 'unmatched'>
  >;
  readonly status: () => Overview;
  /** The state file, open; the test closes it before the next pass, or its end does. */
  readonly open: () => StateStore;
  /** Rows of the state file, or a change to it. */
  readonly sql: (text: string, ...values: (string | number | Buffer)[]) => Record<string, unknown>[];
  /** A client of the platform for `pass`; it is closed at the end of the test. */
  readonly connect: () => PlatformFiles;
  /** Has the platform answer with an error, once by default. */
  readonly fail: (operation: Fault['operation'], status: number, more?: FaultDetails) => void;
  /** What the platform holds of a key, as text; `null` for nothing. */
  readonly remote: (key: string, botId?: string) => string | null;
  readonly keys: (botId?: string) => string[];
  /** From now on others ask the platform as well, for whatever they like. */
  readonly letOthersAsk: () => void;
  /** Ends the emulator and removes the directory, before the test does. */
  readonly close: () => Promise<void>;
}

/** Long enough that files written in a test were at rest before a pass reads them. */
export const AT_REST_MS = 60_000;

/** Makes a world with one source, `docs/`, for the bot `bot-1`, and the directories of its sources; it goes with the test. */
export async function createWorld(
  fields: Record<string, unknown> = {},
  options: Partial<EmulatorOptions> = {},
): Promise<World & { readonly clock: MovableClock }> {
  return await createWorldWith(new MovableClock(AT_REST_MS), fields, options);
}

/** Makes a world in whose `docs/` files were sent; the content of each is its name. */
export async function createSyncedWorld(
  names: readonly string[],
  fields: Record<string, unknown> = {},
  options: Partial<EmulatorOptions> = {},
): Promise<World & { readonly clock: MovableClock }> {
  const world = await createWorld(fields, options);
  for (const name of names) world.write(`docs/${name}`, name);
  await world.pass();
  return world;
}

/** The names "0", "1", … */
export const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => String(n));

/** Makes a world whose time is that of a clock. */
export async function createWorldWith<T extends Clock>(
  clock: T,
  fields: Record<string, unknown> = {},
  options: Partial<EmulatorOptions> = {},
): Promise<World & { readonly clock: T }> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'botsync-sync-')));
  const emulator = await startEmulator({
    dataDir: join(directory, 'platform'),
    bots: [
      { id: 'bot-1', name: 'One' },
      { id: 'bot-2', name: 'Two' },
    ],
    now: clock.now,
    recordRequests: true,
    ...options,
  });
  const close = async (): Promise<void> => {
    await emulator.close();
    rmSync(directory, { recursive: true, force: true });
  };
  // Only our own requests can tell whether we keep to the specification.
  let isSpecified = true;
  onTestFinished(async () => {
    await close();
    if (isSpecified) expectSpecified(emulator);
  });
  let text: Record<string, unknown> = { sources: [{ directory: './docs' }], ...fields };
  // Nothing is asked but by tests that are about what the platform says.
  const platform = { botId: 'bot-1', baseUrl: emulator.baseUrl, operations: 'specified' };
  const at = (path: string): string => join(directory, path);

  const config = (): Config => {
    const written = { ...text, platform: { ...platform, ...(text['platform'] as object | undefined) } };
    const loaded = parseConfig(JSON.stringify(written), at('botsync.config.json'));
    if (loaded.kind === 'invalid') throw new Error(loaded.problems.map(renderProblem).join('\n'));
    isSpecified &&= loaded.config.platform.operations === 'specified';
    return loaded.config;
  };
  for (const source of config().sources) mkdirSync(source.directory, { recursive: true });

  return {
    directory,
    emulator,
    clock,
    write: (path, content) => {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content);
    },
    at,
    remove: (path) => {
      rmSync(at(path), { recursive: true });
    },
    move: (from, to) => {
      renameSync(at(from), at(to));
    },
    makeDirectory: (path) => {
      mkdirSync(at(path), { recursive: true });
    },
    open: () => {
      const opened = openState(config().stateFile, { checkThoroughly: false, nowMs: clock.now() });
      if (opened.kind !== 'open') throw new Error(opened.kind);
      closeAtEnd(opened.store);
      return opened.store;
    },
    sql: (text, ...values) => {
      const database = new DatabaseSync(config().stateFile);
      try {
        return database.prepare(text).all(...values) as Record<string, unknown>[];
      } finally {
        database.close();
      }
    },
    connect: () => {
      const connection = connectTo(emulator, config(), clock);
      onTestFinished(connection.close);
      return connection.platform;
    },
    fail: (operation, status, more) => {
      emulator.faults.add({ operation, kind: 'status', status, ...more });
    },
    letOthersAsk: () => {
      isSpecified = false;
    },
    configure: (changed) => {
      text = { ...text, ...changed };
    },
    config,
    pass: async ({
      isForced = () => false,
      allowRemovals = false,
      approved = () => (allowRemovals ? 'anything' : null),
      checkThoroughly = true,
      confirmForMs = 0,
      prepare = () => undefined,
      report,
      ...engineInput
    } = {}) => {
      const loaded = config();
      const opened = openState(loaded.stateFile, { checkThoroughly, nowMs: clock.now() });
      if (opened.kind !== 'open') throw new Error(opened.kind);
      const connection = connectTo(emulator, loaded, clock);
      const events: FileEvent[] = [];
      const warned: string[] = [];
      const before = requestCount(emulator);
      const never = new AbortController().signal;
      const summary = emptySummary();
      try {
        const syncContext = createSyncContext({
          config: loaded,
          platformName: loaded.platform.baseUrl,
          state: opened.store,
          platform: connection.platform,
          catalog: connection.catalog,
          clock,
          random: () => 0.5,
          emit: listenerOf(
            report ?? { event: (event) => events.push(event), warn: (message) => warned.push(message) },
          ),
          waitLimits: {
            outageMs: loaded.upload.giveUpAfterMs,
            pauseMs: loaded.upload.giveUpAfterMs,
            removalMs: 0,
          },
          howToApprove: 'run once with --allow-removals',
          stages: unwatchedStages(),
          isWatched: false,
          changeFeed: NO_CHANGE_FEED,
          isPaused: () => false,
          keyLocks: new KeyLocks(),
          detach: new AbortController().signal,
          stop: never,
          abort: never,
          ...engineInput,
        });
        prepare(opened.store);
        const allSent = async (sendAgain: SendAgain): Promise<void> => {
          const { confirmations } = syncContext;
          if (confirmForMs === 0 || confirmations === null) return;
          confirmations.hurry(true);
          confirmations.finishWithin(confirmForMs, sendAgain);
          await confirmations.run();
        };
        const exitCode = await runPass(syncContext, { summary, isForced, approved, allSent });
        return { summary, exitCode, events, warned, requests: requestCount(emulator) - before };
      } finally {
        opened.store.close();
        await connection.close();
      }
    },
    plan: async ({ disk } = {}) => {
      const loaded = config();
      const opened = openReader(loaded.stateFile, false);
      if (opened.kind !== 'open') throw new Error(opened.kind);
      try {
        const sources = findSources(loaded, loaded.platform.baseUrl, disk);
        const claims = new Claims(opened.reader, sources);
        const events: FileEvent[] = [];
        const input = {
          config: loaded,
          sources,
          state: opened.reader,
          claims,
          platformNow: () => clock.now() + opened.reader.platformAheadMs(),
          now: clock.now,
          isForced: () => false,
        };
        const result = await dryRun(input, clock, (event) => events.push(event));
        return { ...result, events };
      } finally {
        opened.close();
      }
    },
    status: () => {
      const loaded = config();
      const opened = openReader(loaded.stateFile, false);
      if (opened.kind !== 'open') throw new Error(opened.kind);
      try {
        return overview(opened.reader, loaded, loaded.platform.baseUrl, clock.now());
      } finally {
        opened.close();
      }
    },
    remote: (key, botId = 'bot-1') => emulator.readContent(botId, key)?.toString('utf8') ?? null,
    keys: (botId = 'bot-1') => emulator.listFiles(botId).map(({ key }) => key),
    close,
  };
}

/** Has the emulator answer upserts with an error from now on, all of them or those of one key. */
export function refuseUpserts({ fail }: World, status: number, more: FaultDetails = {}): void {
  fail('upsert', status, { times: Infinity, ...more });
}

/** Throws where anything was asked for beyond what every platform serves. */
function expectSpecified({ counts }: Emulator): void {
  // Tests read what everybody may read.
  const ours = new Set(['upsert', 'upload', 'content']);
  const others = [...counts.keys()].filter((operation) => !ours.has(operation));
  if (others.length > 0) throw new Error(`with "specified" a sync asked for ${others.join(', ')}`);
}

function requestCount(emulator: Emulator): number {
  return [...emulator.counts.values()].reduce((sum, count) => sum + count, 0);
}

/** The client of the program on an emulator. */
export function connectTo(
  emulator: Emulator,
  { platform, upload }: Config,
  clock: Clock,
  token = emulator.token,
): {
  readonly platform: PlatformFiles;
  readonly catalog: PlatformCatalog | null;
  readonly close: () => Promise<void>;
} {
  const { concurrency, stallTimeoutMs } = upload;
  const pacer = new Pacer(
    { maxBytesPerSecond: null, maxRequestsPerSecond: null, longestPauseMs: 120_000 },
    clock,
  );
  const http = new Http({ connections: concurrency, stallTimeoutMs, proxyEnvironment: null }, pacer, clock);
  const caller = { token, identityHeaders: identityHeaders(platform.identity) };
  return {
    platform: new PlatformFiles(http, platform.baseUrl, caller),
    catalog: platform.operations === 'specified' ? null : new PlatformCatalog(http, platform.baseUrl, caller),
    close: () => http.close(),
  };
}
