import fc from 'fast-check';
import { test } from 'vitest';
import { createWorldWith } from '../sync/world.ts';
import { addFaultStep, endFaultsStep, setConditionStep } from './fault-steps.ts';
import { furnish } from './furnish.ts';
import { idOf, type Expectation, type Model, type ModelSettings } from './model.ts';
import { ModelClock } from './model-clock.ts';
import { canOthersAct, othersStep } from './others.ts';
import { LIMITS, RULE_SETS, TOLD_SETS } from './rule-sets.ts';
import { checkParameters, commandOptions, readRunOptions } from './run-options.ts';
import { renamed, settings, SOURCE_NAMES } from './settings-steps.ts';
import { pick, Step } from './steps.ts';
import { guardSteps } from './guard-steps.ts';
import { mountSteps, treeSteps } from './tree-steps.ts';
import { Real } from './real-passes.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const always = () => true;
const allIsThere = (model: Model): boolean => model.isAllThere;

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
    new Step<Real>('pass that is allowed removals', allIsThere, async (model, real) => {
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
  fc.nat(RULE_SETS - 1).map(
    (rules) =>
      new Step<Real>(`rules(${rules})`, always, (model, real) => {
        model.settings = { ...model.settings, rules };
        real.world.configure(model.configFields());
      }),
  ),
  fc.constantFrom(...TOLD_SETS).map(
    (rules) =>
      new Step<Real>(`pass, then other facts(${rules})`, always, async (model, real) => {
        await real.pass(model);
        model.settings = { ...model.settings, rules };
        real.world.configure(model.configFields());
        await real.pass(model);
      }),
  ),
  ...Array.from({ length: 2 }, () =>
    fc.constant(
      new Step<Real>('the state file is lost', always, (_model, real) => {
        real.loseState();
      }),
    ),
  ),
  ...Array.from({ length: 2 }, () => othersStep<Real>()),
  fc.constant(
    new Step<Real>('verify', always, async (_model, real) => {
      if (real.mayAsk) await real.verify();
    }),
  ),
  ...Array.from({ length: 2 }, () =>
    fc
      .tuple(fc.nat(9999), fc.boolean())
      .map(
        ([number, isReplaced]) =>
          new Step<Real>(
            `pass, then remove${isReplaced ? ' what others replaced' : ''}(${number})`,
            allIsThere,
            (model, real) => removeOne(model, real, number, isReplaced),
          ),
      ),
  ),
  ...Array.from({ length: 2 }, () => addFaultStep<Real>()),
  setConditionStep<Real>(),
  fc.constant(endFaultsStep<Real>()),
];

/** Removes a file that the platform has as it is here, and has its removal carried out. */
async function removeOne(model: Model, real: Real, number: number, isReplaced: boolean): Promise<void> {
  await real.pass(model, { allowRemovals: true });
  const before = real.observe();
  const isInSync = (one: Expectation): boolean =>
    one.claim === 'owner' &&
    model.tree.nodes.get(`${one.source.directory}/${one.file.path}`)?.kind === 'file' &&
    before.rows.get(idOf(one.botId, one.key))?.state === 'synced' &&
    before.platform.get(idOf(one.botId, one.key))?.content === one.file.content;
  const one = pick(model.expectations().filter(isInSync), number);
  if (one === undefined) return;
  const id = idOf(one.botId, one.key);
  if (isReplaced) {
    if (!canOthersAct(real.world)) return;
    await real.others.act(real.world, 'overwrite', one.botId, one.key);
  }
  await real.beforeEdit();
  model.tree.remove(`${one.source.directory}/${one.file.path}`);
  real.clock.advance(MINUTE);
  const { emulator } = real.world;
  const isUsual = emulator.faults.pending().length === 0 && emulator.conditions.current.length === 0;
  await real.pass(model, { allowRemovals: true });
  const isDue = model.settings.removals === 'delete' && real.mayAsk && model.mayPutAway(one.botId, one.key);
  if (!isDue || !isUsual || real.clock.skewMs !== 0 || real.mayLackOperations) return;
  const after = real.observe();
  if (isReplaced !== after.platform.has(id))
    throw new Error(isReplaced ? `what others put there is gone: ${id}` : `removed here, still there: ${id}`);
}

async function begin(
  first: ModelSettings,
  operations: 'auto' | 'specified',
  offsetMs: number,
): Promise<{ model: Model; real: Real }> {
  // Whole minutes count on the platform: a run has to begin at the same place in one when it is made again.
  const beganMs = Math.ceil(Date.now() / MINUTE) * MINUTE + MINUTE + offsetMs;
  const clock = new ModelClock(beganMs);
  const options = { limits: LIMITS, now: clock.platformNow };
  const fixed = { limits: LIMITS, upload: { concurrency: 4 } };
  const world = await createWorldWith(clock, fixed, options);
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
      [...treeSteps<Real>(), ...mountSteps<Real>(), ...guardSteps(), ...passSteps],
      commandOptions(options, 40),
    );
    const property = fc.asyncProperty(
      settings,
      fc.constantFrom('auto', 'auto', 'specified'),
      fc.nat(MINUTE - 1),
      steps,
      async (first, operations, offsetMs, commands) => {
        const begun = await begin(first, operations, offsetMs);
        try {
          await fc.asyncModelRun(() => begun, commands);
          await begun.real.end(begun.model);
        } finally {
          begun.model.tree.uncover();
          await begun.real.world.close();
        }
      },
    );
    await fc.assert(property, checkParameters(options, 20));
  },
);
