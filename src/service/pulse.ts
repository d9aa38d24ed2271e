/** A part of the daemon's work whose standstill would go unnoticed: `walk`, `transfer`, `record`. */
export interface Stage {
  /** One more piece of work is under way. */
  readonly begin: () => void;
  /** Some of it moved on: bytes were sent, a directory was listed. */
  readonly progress: () => void;
  /** One piece of work is done with, whatever came of it. */
  readonly end: () => void;
}

interface Beat {
  readonly isExcused: () => boolean;
  underWay: number;
  /** Monotonic milliseconds. */
  movedAtMs: number;
}

/**
 * Notices that work under way does not move on, so that the watchdog of the service manager is fed only by a daemon
 * that works or has nothing to do. An idle stage is a healthy one.
 */
export class Pulse {
  readonly #monotonic: () => number;
  readonly #beats = new Map<string, Beat>();

  /** @param monotonic - milliseconds that never go back. */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /**
   * Adds a stage.
   *
   * @param isExcused - whether a standstill is meant just now: the platform asked for a pause, an outage is waited out.
   */
  stage(name: string, isExcused: () => boolean = () => false): Stage {
    const beat: Beat = { isExcused, underWay: 0, movedAtMs: 0 };
    const move = (): void => {
      beat.movedAtMs = this.#monotonic();
    };
    this.#beats.set(name, beat);
    return {
      begin: () => {
        // Work that is added to work that hangs moves nothing.
        if (beat.underWay++ === 0) move();
      },
      progress: move,
      end: () => {
        beat.underWay--;
        move();
      },
    };
  }

  /**
   * The stages whose work has not moved on for `limitMs`, without the time in which they were excused: for that it is
   * to be asked several times within `limitMs`.
   */
  standsStill(limitMs: number): string[] {
    const nowMs = this.#monotonic();
    return [...this.#beats].flatMap(([name, beat]) => {
      if (beat.isExcused()) beat.movedAtMs = nowMs;
      return beat.underWay > 0 && nowMs - beat.movedAtMs >= limitMs ? [name] : [];
    });
  }
}
