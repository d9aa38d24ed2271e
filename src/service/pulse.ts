/** A part of the daemon's work that is checked for progress: `walk`, `transfer`, `record`. */
export interface Stage {
  /** A piece of work begins. */
  readonly begin: () => void;
  /** Some work progressed: bytes were sent, a directory was listed. */
  readonly progress: () => void;
  /** A piece of work ended, whatever its result. */
  readonly end: () => void;
}

interface Beat {
  readonly isExcused: () => boolean;
  underWay: number;
  /** Monotonic milliseconds. */
  movedAtMs: number;
}

/**
 * Detects work without progress, so that only a healthy daemon notifies the service manager's watchdog. An idle
 * stage is healthy.
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
   * @param isExcused - returns whether a lack of progress is intended now: the platform asked for a pause, or an outage lasts.
   */
  stage(name: string, isExcused: () => boolean = () => false): Stage {
    const beat: Beat = { isExcused, underWay: 0, movedAtMs: 0 };
    const move = (): void => {
      beat.movedAtMs = this.#monotonic();
    };
    this.#beats.set(name, beat);
    return {
      begin: () => {
        // More work on top of work that hangs is no progress.
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
   * Returns the stages without progress for `limitMs`, not counting the time in which they were excused: must be
   * called several times within `limitMs`.
   */
  standsStill(limitMs: number): string[] {
    const nowMs = this.#monotonic();
    return [...this.#beats].flatMap(([name, beat]) => {
      if (beat.isExcused()) beat.movedAtMs = nowMs;
      return beat.underWay > 0 && nowMs - beat.movedAtMs >= limitMs ? [name] : [];
    });
  }
}
