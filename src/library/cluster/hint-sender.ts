import { DatabaseError } from '../../cluster/database.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Hint, HintedPath, PathLook } from '../../domain/hint.ts';
import { Bell } from '../../service/bell.ts';

/** More paths of a source are not worth naming: its holder rescans everything. */
const MOST_NAMED = 1000;

/** From one sending to the next, milliseconds. The first hint after a pause does not wait for it. */
const SPACING_MS = 250;

/** What sending hints needs from outside. */
export interface HintSenderInput {
  readonly clock: Clock;
  /** Tells the host that syncs a source. `false`: nobody can be told. Throws `DatabaseError`. */
  readonly send: (source: string, hint: Hint) => Promise<boolean>;
  /** Told how many paths were named; everything counts as one. */
  readonly sent: (count: number) => void;
}

/** Collects what this host wrote to sources that others sync, and tells them: soon, together, and no more than is worth it. */
export class HintSender {
  readonly #input: HintSenderInput;
  readonly #bell = new Bell();
  /** What is to be told, by source: paths, each once, or everything. */
  #collected = new Map<string, Map<string, PathLook> | 'everything'>();

  constructor(input: HintSenderInput) {
    this.#input = input;
  }

  /** Something was written to a source. */
  note(source: string, hint: Hint): void {
    if (hint.kind === 'everything') this.#collected.set(source, 'everything');
    else for (const one of hint.paths) this.#add(source, one);
    this.#bell.ring();
  }

  /** Sends until the signal aborts. What the database does not take is dropped: polling finds it. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock } = this.#input;
    while (!stop.aborted) {
      await this.#bell.wait(clock, Infinity, stop);
      const collected = this.#collected;
      this.#collected = new Map();
      for (const [source, paths] of collected) await this.#send(source, hintOf(paths));
      await clock.sleep(SPACING_MS, stop);
    }
  }

  #add(source: string, { path, look }: HintedPath): void {
    const known = this.#collected.get(source) ?? new Map<string, PathLook>();
    if (known === 'everything') return;
    known.set(path, look);
    this.#collected.set(source, known.size > MOST_NAMED ? 'everything' : known);
  }

  async #send(source: string, hint: Hint): Promise<void> {
    try {
      if (await this.#input.send(source, hint)) this.#input.sent(countOf(hint));
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
    }
  }
}

/** How many hints one is: a path each, or one for everything. */
export function countOf(hint: Hint): number {
  return hint.kind === 'everything' ? 1 : hint.paths.length;
}

function hintOf(paths: ReadonlyMap<string, PathLook> | 'everything'): Hint {
  if (paths === 'everything') return { kind: 'everything' };
  return { kind: 'paths', paths: [...paths].map(([path, look]) => ({ path, look })) };
}
