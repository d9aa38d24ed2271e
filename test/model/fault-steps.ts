import type fc from 'fast-check';
import type { Fault } from '../../src/emulator/faults.ts';
import type { World } from '../sync/world.ts';
import { condition, fault } from './fault-arbitrary.ts';
import { Step } from './steps.ts';

/** A real system whose platform can be made to fail. */
export interface Faulty {
  readonly world: World;
  addFault(one: Fault): void;
}

/** From now on the platform has one more fault. */
export function addFaultStep<Real extends Faulty>(): fc.Arbitrary<Step<Real>> {
  return fault.map(
    (one) =>
      new Step<Real>(
        `fault(${JSON.stringify(one)})`,
        () => true,
        (_model, real) => {
          real.addFault(one);
        },
      ),
  );
}

/** From now on the platform as a whole is in another condition. */
export function setConditionStep<Real extends Faulty>(): fc.Arbitrary<Step<Real>> {
  return condition.map(
    (one) =>
      new Step<Real>(
        `condition(${JSON.stringify(one)})`,
        () => true,
        async (_model, { world }) => {
          // Who does not ask does not learn that the platform lost what its store took.
          const isSilent =
            one.kind === 'failing-uploads' && world.config().platform.operations === 'specified';
          if (!isSilent) await world.emulator.conditions.set(one);
        },
      ),
  );
}

/** The platform fails no longer. */
export function endFaultsStep<Real extends Faulty>(): Step<Real> {
  return new Step<Real>(
    'faults end',
    () => true,
    (_model, real) => endFaults(real.world),
  );
}

/** Takes everything away that was set on a world's platform. */
export async function endFaults({ emulator }: World): Promise<void> {
  emulator.faults.clear();
  await emulator.conditions.clear();
}
