import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { test } from 'vitest';
import type { Fault } from '../../src/emulator/faults.ts';
import { createDaemonWorld, type DaemonWorld, type RunningDaemon } from '../sync/daemon-world.ts';
import { eventually } from '../files/watch-fixture.ts';
import { isNotServed, isRefusal } from './fault-arbitrary.ts';
import { addFaultStep, endFaults, endFaultsStep, setConditionStep, type Faulty } from './fault-steps.ts';
import { furnish } from './furnish.ts';
import {
  checkEnd,
  foreignFilesAreUntouched,
  isPutAway,
  recordsClaimOnlyWhatIsThere,
  verdictsAreTrue,
  type Told,
} from './invariants.ts';
import { DIRECTORIES, idOf, type Model, type ModelSettings } from './model.ts';
import { observe, type Observation, type RemoteFile } from './observe.ts';
import { isOfOthers, Others, othersStep, type Shared } from './others.ts';
import { listForPrune } from './prune.ts';
import { LIMITS } from './rule-sets.ts';
import { checkParameters, commandOptions, readRunOptions } from './run-options.ts';
import { settings, SOURCE_NAMES } from './settings-steps.ts';
import { Step } from './steps.ts';
import { mountAgain, mountSteps, treeSteps, type Edited } from './tree-steps.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** By how much a world's clock is ahead of its platform's, milliseconds. */
interface Skew {
  ms: number;
}

/** A daemon under way, restarted now and then. */
class Real implements Edited, Faulty, Shared {
  readonly world: DaemonWorld;
  readonly #model: Model;
  readonly #skew: Skew;
  readonly #firstRequest: number;
  readonly others = new Others();
  #running: RunningDaemon | null = null;
  #seenRequests = 0;
  #refusals = false;
  #mayLackOperations = false;
  #before: Observation | null = null;
  /** What could be put away as things stood before the last step. */
  #couldGo = new Set<string>();
  /** Files that somebody has had pruned. */
  readonly #asked = new Set<string>();
  /** What halted the sources when somebody looked: digests by name. */
  #seenHalts: ReadonlyMap<string, string> = new Map();

  constructor(world: DaemonWorld, model: Model, skew: Skew) {
    this.world = world;
    this.#model = model;
    this.#skew = skew;
    this.#firstRequest = world.emulator.requests.length;
  }

  readonly beforeEdit = async (): Promise<void> => {
    await this.#model.tree.untilStampsMove();
  };

  get isRunning(): boolean {
    return this.#running !== null;
  }

  start(): void {
    this.#running ??= this.world.launch();
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    this.#running = null;
  }

  async reload(): Promise<void> {
    const { world } = this;
    world.configure(this.#model.configFields());
    let isTaken = false;
    const taken = this.#running?.reload().then(() => {
      isTaken = true;
    });
    if (taken !== undefined) await world.until(() => isTaken, 'the settings are taken');
  }

  /** Loses the state file; a daemon that runs begins anew. */
  async loseState(): Promise<void> {
    const wasRunning = this.isRunning;
    await this.stop();
    this.others.forget(this.observe());
    rmSync(dirname(this.world.config().stateFile), { recursive: true, force: true });
    if (wasRunning) this.start();
  }

  addFault(one: Fault): void {
    this.#refusals ||= isRefusal(one);
    this.#mayLackOperations ||= isNotServed(one);
    this.world.emulator.faults.add(one);
  }

  setClock(aheadMs: number): void {
    this.world.clock.jumpWallClock(aheadMs - this.#skew.ms);
    this.#skew.ms = aheadMs;
  }

  observe(): Observation {
    const { world } = this;
    return observe(
      world.emulator,
      world.config(),
      SOURCE_NAMES,
      world.clock.now() - this.#skew.ms,
      this.isRunning,
    );
  }

  /** Holds what there is at any moment, with a daemon under way, against the invariants. */
  check(): void {
    const after = this.observe();
    const before = this.#before ?? after;
    const requests = this.world.emulator.requests.slice(this.#firstRequest);
    this.#noteWhatWasSent();
    if (this.world.emulator.conditions.get('lagging-list') !== null)
      for (const id of after.rows.keys()) if (!before.rows.has(id)) this.others.doubt(id);
    recordsClaimOnlyWhatIsThere(after, this.others);
    verdictsAreTrue(after, this.others);
    foreignFilesAreUntouched(before, after, requests);
    for (const [id, file] of after.platform) {
      if (
        !isPutAway(file, Date.parse(file.updatedAt)) ||
        before.platform.get(id)?.updatedAt === file.updatedAt
      )
        continue;
      if (!this.#couldGo.has(id) && !this.#mayGo(id, file, before))
        throw new Error(`put away, though it was not removed: ${id}`);
    }
    for (const [id, file] of before.platform) {
      const isOver = file.expiresAtMs !== null && file.expiresAtMs <= after.atMs;
      if (after.platform.has(id) || isOver || this.others.mayDiffer(id)) continue;
      if (!this.#couldGo.has(id) && !this.#mayGo(id, file, before))
        throw new Error(`deleted, though it was not removed: ${id}`);
    }
    this.#before = after;
    this.#couldGo = new Set(
      [...after.platform].flatMap(([id, file]) => (this.#mayGo(id, file, after) ? [id] : [])),
    );
  }

  /** Whether a file may be removed: what was kept stays until somebody prunes it. */
  #mayGo(id: string, { botId, key }: RemoteFile, { rows }: Observation): boolean {
    if (this.#asked.has(id)) return this.#model.mayPrune(botId, key);
    return rows.get(id)?.absence !== 'kept' && this.#model.mayPutAway(botId, key);
  }

  /** Has kept files pruned. */
  prune(number: number): void {
    const { daemon } = this.#running ?? {};
    if (daemon === undefined) return;
    for (const { wanted, ids } of listForPrune(this.world, number))
      if (daemon.prune(wanted).kind === 'pruning') for (const id of ids) this.#asked.add(id);
  }

  /** Somebody looks at what halts the sources. */
  lookAtHalts(): void {
    const { sources } = this.observe().status;
    this.#seenHalts = new Map(
      sources.flatMap(({ name, halt }) => (halt === null ? [] : [[name, halt.digest] as const])),
    );
  }

  /** Approves exactly what was looked at, whatever has come since. */
  approve(): void {
    for (const [source, digest] of this.#seenHalts) this.#running?.daemon.approve(source, digest);
    this.#seenHalts = new Map();
  }

  #noteWhatWasSent(): void {
    const { requests } = this.world.emulator;
    for (const request of requests.slice(this.#seenRequests)) {
      const { operation, botId = '', key = '' } = request;
      if (operation !== 'upsert' || isOfOthers(request)) continue;
      this.others.noteSent(idOf(botId, key));
    }
    this.#seenRequests = requests.length;
  }

  /** Mends everything, gives time, and holds the end against the model. */
  async end(): Promise<void> {
    const { world } = this;
    await endFaults(world);
    this.setClock(0);
    this.#model.tree.uncover();
    for (const top of DIRECTORIES) if (this.#model.isAway(top)) mountAgain(this.#model.tree, top);
    this.start();
    const running = this.#running as RunningDaemon;
    let reason = '';
    if (world.config().platform.operations === 'auto') {
      // What is taken for not served is asked for again after a day; then a verification finds what others did.
      await world.wait(this.#mayLackOperations ? 26 * HOUR : 75 * MINUTE, MINUTE);
      this.#noteWhatWasSent();
      this.others.expectMended(this.observe(), this.#model.settings.sources);
    }
    await eventually(async () => {
      const before = requestCount(world);
      await world.wait(30 * SECOND);
      reason = this.#differenceNow(running);
      // What is approved now, or was sent just now, may have more to follow.
      const isHalted = this.observe().status.sources.some(({ halted }) => halted !== null);
      running.daemon.approve(null);
      return reason === '' && !isHalted && requestCount(world) === before;
    }, 'the end is as it ought to be').catch((error: unknown) => {
      throw reason === '' ? error : new Error(reason);
    });
    const before = requestCount(world);
    await world.wait(3 * MINUTE);
    const isDone = running.passes.at(-1)?.summary.failed === 0;
    if (isDone && requestCount(world) > before) throw new Error('requests though nothing changed');
    this.check();
    await this.stop();
    reason = this.#differenceNow(running);
    if (reason !== '') throw new Error(`after the end: ${reason}`);
  }

  #differenceNow({ events }: RunningDaemon): string {
    const end = this.observe();
    const told: Told = (source, path) => {
      const known = end.status.failures.find((one) => one.source === source && one.path === path);
      const skipped = events.find((one) => one.kind === 'skip' && one.source === source && one.path === path);
      return known?.reason ?? skipped?.reason ?? null;
    };
    try {
      checkEnd(this.#model, end, told, this.#refusals, this.others);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  }
}

/** Requests so far that change something: it is asked now and then how things are. */
function requestCount({ emulator }: DaemonWorld): number {
  const changing = ['upsert', 'upload', 'update-file', 'delete-file'];
  return changing.reduce((sum, name) => sum + (emulator.counts.get(name) ?? 0), 0);
}

const always = () => true;

/** A step after which the invariants are checked, as after every other. */
function checked(step: Step<Real>): Step<Real> {
  return new Step<Real>(
    step.toString(),
    (model) => step.check(model),
    async (model, real) => {
      await step.run(model, real);
      real.check();
    },
  );
}

const daemonSteps: fc.Arbitrary<Step<Real>>[] = [
  ...[3 * SECOND, 3 * SECOND, 20 * SECOND, 2 * MINUTE].map((ms) =>
    fc.constant(
      new Step<Real>(`wait(${ms / SECOND} s)`, always, async (_model, real) => {
        await real.world.wait(ms);
      }),
    ),
  ),
  fc.constantFrom(HOUR, 2 * HOUR).map(
    (ms) =>
      new Step<Real>(`wait(${ms / HOUR} h)`, always, async (_model, real) => {
        await real.world.wait(ms, MINUTE);
      }),
  ),
  fc.constantFrom(HOUR, 2 * DAY, 40 * DAY).map(
    (ms) =>
      new Step<Real>(`the machine sleeps(${ms / HOUR} h)`, always, (_model, real) => {
        real.world.clock.jumpWallClock(ms);
      }),
  ),
  fc.constantFrom(0, 0, -5 * DAY, -2 * HOUR, 2 * HOUR, 5 * DAY).map(
    (ms) =>
      new Step<Real>(`clock set(${ms / MINUTE} min ahead)`, always, (_model, real) => {
        real.setClock(ms);
      }),
  ),
  ...Array.from({ length: 2 }, () =>
    fc.constant(
      new Step<Real>('stop or start', always, async (_model, real) => {
        if (real.isRunning) await real.stop();
        else real.start();
      }),
    ),
  ),
  settings.map(
    (to) =>
      new Step<Real>(`configure(${JSON.stringify(to)})`, always, async (model, real) => {
        model.settings = to;
        await real.reload();
      }),
  ),
  fc.constantFrom('keep' as const, 'expire' as const, 'delete' as const).map(
    (removals) =>
      new Step<Real>(`removals.mode ${removals}`, always, async (model, real) => {
        model.settings = { ...model.settings, removals };
        await real.reload();
      }),
  ),
  ...Array.from({ length: 2 }, () =>
    fc.nat(9999).map(
      (number) =>
        new Step<Real>(`prune(${number})`, always, async (_model, real) => {
          real.prune(number);
          await real.world.wait(3 * SECOND);
        }),
    ),
  ),
  // Whoever looks while directories are away, or hidden, approves nothing.
  fc.constant(
    new Step<Real>(
      'wait, then look at the halts',
      (model) => model.isAllThere,
      async (_model, real) => {
        await real.world.wait(3 * SECOND);
        real.lookAtHalts();
      },
    ),
  ),
  fc.constant(
    new Step<Real>('approve what was looked at', always, async (_model, real) => {
      real.approve();
      await real.world.wait(3 * SECOND);
    }),
  ),
  fc.constant(new Step<Real>('the state file is lost', always, (_model, real) => real.loseState())),
  othersStep<Real>(),
  addFaultStep<Real>(),
  setConditionStep<Real>(),
  fc.constant(endFaultsStep<Real>()),
];

async function begin(
  first: ModelSettings,
  operations: 'auto' | 'specified',
): Promise<{ model: Model; real: Real }> {
  const skew: Skew = { ms: 0 };
  const clock = { now: Date.now };
  const fixed = {
    limits: LIMITS,
    upload: { concurrency: 4 },
    watch: { rescan: '1m' },
    verify: { every: '1h', repair: true },
  };
  const world = await createDaemonWorld(fixed, {
    limits: LIMITS,
    now: () => clock.now() - skew.ms,
  });
  world.configure({ platform: { botId: 'bot-1', baseUrl: world.emulator.baseUrl, operations } });
  clock.now = world.clock.now;
  const model = await furnish(world, first, world.clock);
  const real = new Real(world, model, skew);
  real.start();
  return { model, real };
}

const options = readRunOptions();

test(
  `a daemon keeps the platform as the model has it (seed ${options.seed})`,
  { timeout: 24 * HOUR },
  async () => {
    const all = [...treeSteps<Real>(), ...mountSteps<Real>(), ...daemonSteps].map((step) =>
      step.map(checked),
    );
    const steps = fc.commands<Model, Real, false>(all, commandOptions(options, 30));
    const property = fc.asyncProperty(
      settings,
      fc.constantFrom('auto', 'auto', 'specified'),
      steps,
      async (first, operations, commands) => {
        const begun = await begin(first, operations);
        try {
          await fc.asyncModelRun(() => begun, commands);
          await begun.real.end();
        } finally {
          await begun.real.stop();
          begun.model.tree.uncover();
          await begun.real.world.close();
        }
      },
    );
    await fc.assert(property, checkParameters(options, 6));
  },
);
