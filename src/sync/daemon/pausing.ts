import type { Clock } from '../../domain/clock.ts';
import { isOver, type Pause } from '../../domain/pause.ts';
import type { StateStore } from '../../store/state-store.ts';
import { pauseNotice, resumedNotice } from '../../words/pause.ts';
import type { Emit } from '../events.ts';

export interface PausingInput {
  readonly state: Pick<StateStore, 'pause' | 'savePause'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly emit: Emit;
}

/** The pause of a daemon by a command. It is recorded, so a restart does not end it. */
export class Pausing {
  readonly #input: PausingInput;
  readonly #ended: () => void;
  #pause: Pause | null;

  /** @param ended - called when a pause ends. */
  constructor(input: PausingInput, ended: () => void) {
    this.#input = input;
    this.#ended = ended;
    this.#pause = input.state.pause();
  }

  /** The current pause; `null`: none. */
  get current(): Pause | null {
    return this.#pause;
  }

  /** Reports a pause that a restart did not end. */
  begin(): void {
    this.endIfOver();
    if (this.#pause !== null) this.#report(this.#pause);
  }

  /** Begins a pause, or changes the end of the current one. */
  pause(untilMs: number | null): Pause {
    const { state, clock } = this.#input;
    const before = this.#pause;
    if (before?.untilMs === untilMs) return before;
    this.#pause = { sinceMs: before?.sinceMs ?? clock.now(), untilMs };
    state.savePause(this.#pause);
    this.#report(this.#pause);
    return this.#pause;
  }

  /** Ends the pause. Returns `false` if there is none. */
  resume(): boolean {
    return this.#end(false);
  }

  /** Ends a pause whose time is over. */
  endIfOver(): void {
    if (this.#pause !== null && isOver(this.#pause, this.#input.clock.now())) this.#end(true);
  }

  #end(isTimeOver: boolean): boolean {
    if (this.#pause === null) return false;
    const { state, emit } = this.#input;
    this.#pause = null;
    state.savePause(null);
    emit({ kind: 'notice', message: resumedNotice(isTimeOver) });
    this.#ended();
    return true;
  }

  #report({ untilMs }: Pause): void {
    const { emit, clock } = this.#input;
    emit({ kind: 'warning', message: pauseNotice(untilMs, clock.now()) });
  }
}
