import type { Clock } from '../../domain/clock.ts';

/** The longest stretch of synchronous work before other work gets a turn, milliseconds. */
const LONGEST_STRETCH_MS = 8;

/** Steps between two readings of the clock, each of which costs about as much as a step. */
const STEPS_A_LOOK = 32;

/** Runs a generator to its end, and lets other work run when it pauses. */
export async function inTurns<T>(work: Generator<null, T>, clock: Clock): Promise<T> {
  const turns = new Turns(clock);
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value;
    const turn = turns.step();
    if (turn !== null) await turn;
  }
}

/** Divides a long synchronous walk into stretches, between which timers and connections get their turn. */
export class Turns {
  readonly #clock: Clock;
  #steps = 0;
  #endsMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#endsMs = clock.monotonic() + LONGEST_STRETCH_MS;
  }

  /** Counts a step. Returns a promise to await after a long stretch. */
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
