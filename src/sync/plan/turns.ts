import type { Clock } from '../../domain/clock.ts';

/** Work that never waits runs for at most so long without letting others have a turn, milliseconds. */
const LONGEST_STRETCH_MS = 8;

/** The clock is looked at after so many steps: looking costs about as much as a step. */
const STEPS_A_LOOK = 32;

/** Does what stops now and then for others to have their turn. */
export async function inTurns<T>(work: Generator<null, T>, clock: Clock): Promise<T> {
  const turns = new Turns(clock);
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value;
    const turn = turns.step();
    if (turn !== null) await turn;
  }
}

/** Cuts a long synchronous walk into stretches, between which timers and connections get their turn. */
export class Turns {
  readonly #clock: Clock;
  #steps = 0;
  #endsMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#endsMs = clock.monotonic() + LONGEST_STRETCH_MS;
  }

  /** Counts a step; when the stretch was long enough, there is a promise to wait for. */
  step(): Promise<void> | null {
    if (++this.#steps % STEPS_A_LOOK !== 0 || this.#clock.monotonic() < this.#endsMs) return null;
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#endsMs = this.#clock.monotonic() + LONGEST_STRETCH_MS;
        resolve();
      });
    });
  }
}
