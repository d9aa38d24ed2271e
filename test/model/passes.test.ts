import fc from 'fast-check';
import { test } from 'vitest';
import type { Fault } from '../../src/emulator/faults.ts';
import { createWorldWith, type PassOptions, type PassOutcome, type World } from '../sync/world.ts';
import { isRefusal } from './fault-arbitrary.ts';
import { addFaultStep, endFaults, endFaultsStep, setConditionStep, type Faulty } from './fault-steps.ts';
import { furnish } from './furnish.ts';
import { checkEnd, checkSpan, isMirrored, type Told } from './invariants.ts';
import { DIRECTORIES, type Model, type ModelSettings } from './model.ts';
import { ModelClock } from './model-clock.ts';
import { observe, type Observation } from './observe.ts';
import { LIMITS } from './rule-sets.ts';
import { checkParameters, commandOptions, readRunOptions } from './run-options.ts';
import { renamed, settings, SOURCE_NAMES } from './settings-steps.ts';
import { Step } from './steps.ts';
import { mountAgain, treeSteps, type Edited } from './tree-steps.ts';
import type { Tree } from './tree.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The real system, one pass at a time: each is a process of its own, as far as it can tell. */
class Real implements Edited, Faulty {
  readonly world: World;
  readonly clock: ModelClock;
  readonly tree: Tree;
  #refusals = false;
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
    const before = this.observe();
    const firstRequest = emulator.requests.length;
    const outcome = await this.world.pass(options);
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
    });
    nothingIsPassedOver(model, after, outcome, isSkewed);
    return outcome;
  }

  /** Mends everything, gives time, and holds the end against the model. */
  async end(model: Model): Promise<void> {
    await endFaults(this.world);
    this.clock.skewMs = 0;
    for (const top of DIRECTORIES) if (model.isAway(top)) mountAgain(model.tree, top);
    await this.pass(model);
    await this.pass(model, { allowRemovals: true });
    // Whatever expires is renewed in time, or let expire, for months after.
    for (const ms of [5 * MINUTE, 40 * HOUR, 50 * DAY]) {
      this.clock.advance(ms);
      const outcome = await this.pass(model);
      checkEnd(model, this.observe(), toldBy(outcome), this.#refusals);
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

function toldBy({ events }: PassOutcome): Told {
  return (source, path) => {
    const told = events.filter(
      (event) => event.source === source && event.path === path && event.outcome !== 'done',
    );
    return told.length === 0 ? null : told.map(({ reason, error }) => `${reason} ${error ?? ''}`).join('; ');
  };
}

/** A pass tells of every file that is not on the platform as it is here. */
function nothingIsPassedOver(
  model: Model,
  after: Observation,
  outcome: PassOutcome,
  isSkewed: boolean,
): void {
  const told = toldBy(outcome);
  // What is due, or over, is a matter of what time it is taken to be.
  if (outcome.summary.pending > 0 || isSkewed) return;
  for (const one of model.expectations()) {
    if (one.claim !== 'behind' && isMirrored(one, after)) continue;
    const { source, file } = one;
    if (told(source.name, file.path) === null && told(source.name, '.') === null)
      throw new Error(`a pass said nothing of ${source.name}:${file.path}, which is not on the platform`);
  }
}

const always = () => true;
const allIsMounted = (model: Model) => DIRECTORIES.every((top) => !model.isAway(top));

const passSteps: fc.Arbitrary<Step<Real>>[] = [
  ...Array.from({ length: 7 }, () =>
    fc.constant(
      new Step<Real>('pass', always, async (model, real) => {
        await real.pass(model);
      }),
    ),
  ),
  fc.constant(
    // Who allows it while a directory is empty for want of its file system has its files removed.
    new Step<Real>('pass that is allowed removals', allIsMounted, async (model, real) => {
      await real.pass(model, { allowRemovals: true });
    }),
  ),
  ...Array.from({ length: 2 }, () =>
    fc.constantFrom(MINUTE, 10 * MINUTE, HOUR, 13 * HOUR, 2 * DAY, 30 * DAY, 100 * DAY).map(
      (ms) =>
        new Step<Real>(`time(${ms / MINUTE} min)`, always, (_model, real) => {
          real.clock.advance(ms);
        }),
    ),
  ),
  fc.constantFrom(0, 0, -5 * DAY, -2 * HOUR, -90_000, 90_000, 2 * HOUR, 5 * DAY).map(
    (ms) =>
      new Step<Real>(`clock set(${ms / MINUTE} min ahead)`, always, (_model, real) => {
        real.clock.skewMs = ms;
      }),
  ),
  settings.map(
    (to) =>
      new Step<Real>(`configure(${JSON.stringify(to)})`, always, (model, real) => {
        model.settings = to;
        real.world.configure(model.configFields());
      }),
  ),
  fc.constantFrom(...SOURCE_NAMES).map(
    (name) =>
      new Step<Real>(`source is now called ${name}`, always, (model, real) => {
        model.settings = renamed(model.settings, name);
        real.world.configure(model.configFields());
      }),
  ),
  fc.nat(8).map(
    (rules) =>
      new Step<Real>(`rules(${rules})`, always, (model, real) => {
        model.settings = { ...model.settings, rules };
        real.world.configure(model.configFields());
      }),
  ),
  ...Array.from({ length: 2 }, () => addFaultStep<Real>()),
  setConditionStep<Real>(),
  fc.constant(endFaultsStep<Real>()),
];

async function begin(first: ModelSettings, offsetMs: number): Promise<{ model: Model; real: Real }> {
  // Whole minutes count on the platform: a run has to begin at the same place in one when it is made again.
  const beganMs = Math.ceil(Date.now() / MINUTE) * MINUTE + MINUTE + offsetMs;
  const clock = new ModelClock(beganMs);
  const options = { limits: LIMITS, now: clock.platformNow };
  const fixed = { limits: LIMITS, upload: { concurrency: 4 } };
  const world = await createWorldWith(clock, fixed, options);
  // Otherwise "delete" is "expire", and nothing is asked.
  const operations = first.removals === 'delete' ? 'auto' : 'specified';
  world.configure({ platform: { botId: 'bot-1', baseUrl: world.emulator.baseUrl, operations } });
  const model = await furnish(world, first, clock);
  return { model, real: new Real(world, clock, model.tree) };
}

const options = readRunOptions();

test(
  `passes keep the platform as the model has it (seed ${options.seed})`,
  { timeout: 24 * HOUR },
  async () => {
    const steps = fc.commands<Model, Real, false>(
      [...treeSteps<Real>(), ...passSteps],
      commandOptions(options, 40),
    );
    const property = fc.asyncProperty(
      settings,
      fc.nat(MINUTE - 1),
      steps,
      async (first, offsetMs, commands) => {
        const begun = await begin(first, offsetMs);
        try {
          await fc.asyncModelRun(() => begun, commands);
          await begun.real.end(begun.model);
        } finally {
          await begun.real.world.close();
        }
      },
    );
    await fc.assert(property, checkParameters(options, 200, 20_000));
  },
);
