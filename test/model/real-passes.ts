import { copyFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fingerprintOf } from '../../src/domain/fingerprint.ts';
import type { Halt } from '../../src/domain/guard.ts';
import type { FileEvent } from '../../src/domain/report.ts';
import type { Fault } from '../../src/emulator/faults.ts';
import { openReader } from '../../src/store/open-reader.ts';
import type { PassOptions, PassOutcome, World } from '../sync/world.ts';
import { isNotServed, isRefusal } from './fault-arbitrary.ts';
import { endFaults, type Faulty } from './fault-steps.ts';
import { checkEnd, checkSpan, isMirrored, type Told } from './invariants.ts';
import { DIRECTORIES, idOf, type Model, type ModelSource } from './model.ts';
import { ModelClock } from './model-clock.ts';
import { observe, type Observation } from './observe.ts';
import { Others, type Shared } from './others.ts';
import { SOURCE_NAMES } from './settings-steps.ts';
import { mountAgain, type Edited } from './tree-steps.ts';
import type { Tree } from './tree.ts';
import { checkVerification, verifyForRepair } from './verification.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The platform's word is waited for so long by a pass, milliseconds. */
const CONFIRM_FOR_MS = 30_000;

/** The real system, one pass at a time: each is a process of its own, as far as it can tell. */
export class Real implements Edited, Faulty, Shared {
  readonly world: World;
  readonly clock: ModelClock;
  readonly tree: Tree;
  readonly others = new Others();
  #refusals = false;
  /** Whether botsync may take an operation for one that is not served. */
  mayLackOperations = false;
  #isStateLost = false;
  #seenHalts: ReadonlyMap<string, Halt> = new Map();
  /** Whether something was written to a file since the kernel's clock for that was seen to move. */
  #mayShareStamps = true;
  /** By how much our clock was ahead when the platform's time was heard last: botsync reckons by that until it hears it again. */
  #skewHeardMs = 0;
  readonly #sentAs = new Map<string, string>();

  constructor(world: World, clock: ModelClock, tree: Tree) {
    this.world = world;
    this.clock = clock;
    this.tree = tree;
  }

  readonly beforeEdit = async (): Promise<void> => {
    if (this.#mayShareStamps) await this.tree.untilStampsMove();
    this.#mayShareStamps = false;
  };

  addFault(one: Fault): void {
    this.#refusals ||= isRefusal(one);
    this.mayLackOperations ||= isNotServed(one);
    this.world.emulator.faults.add(one);
  }

  observe(): Observation {
    const { emulator, config } = this.world;
    return observe(emulator, config(), SOURCE_NAMES, this.clock.platformNow(), false);
  }

  /** Makes a pass and holds what it did against the invariants. */
  async pass(model: Model, options: PassOptions = {}): Promise<PassOutcome> {
    const { emulator } = this.world;
    this.#mayShareStamps = true;
    const isFaulty = emulator.faults.pending().length > 0 || emulator.conditions.current.length > 0;
    const isListLagging = emulator.conditions.get('lagging-list') !== null;
    const before = this.observe();
    const firstRequest = emulator.requests.length;
    const outcome = await this.world.pass({ confirmForMs: CONFIRM_FOR_MS, ...options });
    const after = this.observe();
    const requests = emulator.requests.slice(firstRequest);
    const isSkewed = this.clock.skewMs !== 0 || this.#skewHeardMs !== 0;
    if (requests.some(({ status }) => status !== null)) this.#skewHeardMs = this.clock.skewMs;
    checkSpan({
      model,
      before,
      after,
      events: outcome.events,
      requests,
      isFaulty,
      isSkewed,
      sentAs: this.#sentAs,
      others: this.others,
      isAdopting: this.#isStateLost && this.mayAsk && !this.mayLackOperations,
      isListLagging,
      takesChanges: this.mayAsk && !this.mayLackOperations,
      fingerprint: this.#fingerprint,
    });
    this.#isStateLost = false;
    nothingIsPassedOver(model, after, outcome, isSkewed, this.others);
    return outcome;
  }

  /** Whether the platform may be asked what it has. */
  get mayAsk(): boolean {
    return this.world.config().platform.operations === 'auto';
  }

  /** Loses the state file: nothing is on record any more. */
  loseState(): void {
    this.others.forget(this.observe());
    rmSync(dirname(this.world.config().stateFile), { recursive: true, force: true });
    this.#sentAs.clear();
    this.#skewHeardMs = 0;
    this.#isStateLost = true;
  }

  /**
   * Compares all that the platform has with the records, which are to say afterwards what the next pass puts right. With `prune` it
   * has that pass remove the orphans that are found.
   */
  async verify({ prune = false, isOlder = false } = {}): Promise<void> {
    const { emulator } = this.world;
    const before = this.observe();
    const isFaulty = emulator.faults.pending().length > 0 || emulator.conditions.current.length > 0;
    const found = await verifyForRepair(this.world, this.clock, { prune });
    if (isOlder || isFaulty || this.clock.skewMs !== 0 || this.mayLackOperations) return;
    if (found === null) throw new Error('what the platform has could not be compared');
    const names = new Set(this.world.config().sources.map(({ name }) => name));
    checkVerification(found, before, this.others, names);
  }

  /** Whether nothing was on record since the state file was lost. */
  get hasLostState(): boolean {
    return this.#isStateLost;
  }

  /** Somebody looks at what halts the sources. */
  lookAtHalts(): void {
    this.#seenHalts = this.halts();
  }

  /** What halts the sources, by name. */
  halts(): ReadonlyMap<string, Halt> {
    const opened = openReader(this.world.config().stateFile, false);
    if (opened.kind !== 'open') throw new Error(opened.kind);
    try {
      return new Map(
        SOURCE_NAMES.flatMap((name) => {
          const halt = opened.reader.source(name)?.halt ?? null;
          return halt === null ? [] : [[name, halt] as const];
        }),
      );
    } finally {
      opened.close();
    }
  }

  /** Makes a pass in which exactly those halts are approved that somebody has looked at, whatever has come since. */
  async approve(model: Model): Promise<PassOutcome> {
    const seen = this.#seenHalts;
    this.#seenHalts = new Map();
    return await this.pass(model, { approved: (source) => seen.get(source) ?? null });
  }

  /** Puts an older copy of the state file in its place, while something is done, and then the newer one. */
  async withStateOf(older: string, task: () => Promise<void>): Promise<void> {
    const newer = this.saveState('newer');
    this.#placeState(older);
    try {
      await task();
    } finally {
      this.#placeState(newer);
    }
  }

  /** Copies the state file. Returns where. */
  saveState(name: string): string {
    const copy = join(this.world.directory, `${name}.db`);
    copyFileSync(this.world.config().stateFile, copy);
    return copy;
  }

  #placeState(copy: string): void {
    const { stateFile } = this.world.config();
    for (const ending of ['', '-wal', '-shm']) rmSync(`${stateFile}${ending}`, { force: true });
    copyFileSync(copy, stateFile);
  }

  readonly #fingerprint = (source: ModelSource, path: string): string | null => {
    const stats = statSync(join(this.world.directory, source.directory, path), {
      bigint: true,
      throwIfNoEntry: false,
    });
    return stats === undefined ? null : fingerprintOf(stats);
  };

  /** Mends everything, gives time, and holds the end against the model. */
  async end(model: Model): Promise<void> {
    await endFaults(this.world);
    this.clock.skewMs = 0;
    model.tree.uncover();
    for (const top of DIRECTORIES) if (model.isAway(top)) mountAgain(model.tree, top);
    await this.pass(model);
    await this.pass(model, { allowRemovals: true });
    if (this.mayAsk) {
      // Once more after a day, should anything be taken for not served.
      this.clock.advance(DAY + MINUTE);
      await this.pass(model);
      await this.verify();
      await this.pass(model);
      this.others.expectMended(this.observe(), model.settings.sources);
    }
    // Whatever expires is renewed in time, or let expire, for months after.
    for (const ms of [5 * MINUTE, 40 * HOUR, 50 * DAY]) {
      this.clock.advance(ms);
      const outcome = await this.pass(model);
      checkEnd(model, this.observe(), toldBy(outcome), this.#refusals, this.others);
    }
    const planned = await this.world.plan();
    const again = await this.pass(model);
    if (again.requests > 0 && again.summary.failed === 0)
      throw new Error(`${again.requests} requests for an unchanged tree`);
    const [foretold, found] = [planned, again].map(({ summary }) =>
      JSON.stringify({ ...summary, durationMs: 0, bytes: 0 }),
    );
    if (foretold !== found) throw new Error(`the plan said ${foretold ?? ''}, the pass did ${found ?? ''}`);
  }
}

/** Whether an event says that something is not as it ought to be. */
function isTelling({ outcome }: FileEvent): boolean {
  return outcome !== 'done' && outcome !== 'stored' && outcome !== 'searchable';
}

function toldBy({ events }: PassOutcome): Told {
  return (source, path) => {
    const told = events.filter((event) => event.source === source && event.path === path && isTelling(event));
    return told.length === 0 ? null : told.map(({ reason, error }) => `${reason} ${error ?? ''}`).join('; ');
  };
}

/** A pass tells of every file that is not on the platform as it is here. */
function nothingIsPassedOver(
  model: Model,
  after: Observation,
  outcome: PassOutcome,
  isSkewed: boolean,
  others: Others,
): void {
  const told = toldBy(outcome);
  // What is due, or over, is a matter of what time it is taken to be.
  if (outcome.summary.pending > 0 || isSkewed) return;
  for (const one of model.expectations()) {
    if (one.claim !== 'behind' && isMirrored(one, after, others)) continue;
    const { source, file, botId, key } = one;
    // Nobody can tell of it yet.
    if (others.mayDiffer(idOf(botId, key))) continue;
    if (told(source.name, file.path) === null && told(source.name, '.') === null)
      throw new Error(`a pass said nothing of ${source.name}:${file.path}, which is not on the platform`);
  }
}
