import type { RelativePath } from '../../domain/key.ts';
import { scan } from '../../files/scan.ts';
import type { Source } from './source.ts';

/**
 * Keeps removals waiting where a directory lost all its files at once and is still there: another directory in its place may hide
 * them. They go when they are missing for `removals.delay`, which a daemon waits for anyway.
 */
export class SecondLook {
  readonly #source: Source;
  /** Removals noticed by then have waited long enough, epoch milliseconds. */
  readonly #noticedByMs: number;
  readonly #looks = new Map<string, 'gone' | 'emptied' | 'in-use'>();
  readonly #waiting = new Map<string, number>();

  constructor(source: Source, nowMs: number, delayMs: number) {
    this.#source = source;
    this.#noticedByMs = nowMs - delayMs;
  }

  /** The directories in question, with the number of their files that wait. */
  get waiting(): ReadonlyMap<string, number> {
    return this.#waiting;
  }

  /** Returns whether a removal has to wait. `noticedAtMs`: when its file was noticed missing, epoch milliseconds. */
  holds(path: string, noticedAtMs: number): boolean {
    const directory = noticedAtMs <= this.#noticedByMs ? null : this.#emptiedAbove(path);
    if (directory === null) return false;
    this.#waiting.set(directory, (this.#waiting.get(directory) ?? 0) + 1);
    return true;
  }

  /** Returns the nearest directory above a path that is there, if it has no file left and is not the source itself. */
  #emptiedAbove(path: string): string | null {
    for (let slash = path.lastIndexOf('/'); slash !== -1; slash = path.lastIndexOf('/', slash - 1)) {
      const directory = path.slice(0, slash);
      let look = this.#looks.get(directory);
      if (look === undefined) this.#looks.set(directory, (look = lookAt(this.#source, directory)));
      if (look !== 'gone') return look === 'emptied' ? directory : null;
    }
    return null;
  }
}

function lookAt(source: Source, directory: string): 'gone' | 'emptied' | 'in-use' {
  try {
    if (!source.disk.stat(`${source.root}/${directory}`).isDirectory()) return 'gone';
  } catch {
    return 'gone';
  }
  for (const { kind } of scan(source, directory as RelativePath)) if (kind === 'file') return 'in-use';
  return 'emptied';
}
