import { rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fingerprintOf } from '../../src/domain/fingerprint.ts';
import type { FileEvent } from '../../src/domain/report.ts';
import type { Fault } from '../../src/emulator/faults.ts';
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
  /** Whether something was written to a file since the kernel's clock for that was seen to move. */
  #mayShareStamps = true;
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
    const isFaulty = emulator.faults.pending().length > 0 || !emulator.conditions.areUsual;
    const isListLagging = emulator.conditions.get('lagging-list') !== null;
    const before = this.observe();
    const firstRequest = emulator.requests.length;
    const outcome = await this.world.pass({ confirmForMs: CONFIRM_FOR_MS, ...options });
    const after = this.observe();
    const requests = emulator.requests.slice(firstRequest);
    const isSkewed = this.clock.skewMs !== 0;
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
    this.#isStateLost = true;
  }

  /** Compares all that the platform has with the records, which are to say afterwards what the next pass puts right. */
  async verify(): Promise<void> {
    const { emulator } = this.world;
    const before = this.observe();
    const isFaulty = emulator.faults.pending().length > 0 || !emulator.conditions.areUsual;
    const found = await verifyForRepair(this.world, this.clock);
    if (isFaulty || this.clock.skewMs !== 0 || this.mayLackOperations) return;
    if (found === null) throw new Error('what the platform has could not be compared');
    checkVerification(found, before, this.others);
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
    for (const top of DIRECTORIES) if (model.isAway(top)) mountAgain(model.tree, top);
    await this.pass(model);
    await this.pass(model, { allowRemovals: true });
    if (this.mayAsk) {
      // Once more after a day, should anything be taken for not served.
      this.clock.advance(DAY + MINUTE);
      await this.pass(model);
      await this.verify();
      await this.pass(model);
      this.others.expectMended();
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
