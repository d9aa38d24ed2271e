import type { RelativePath } from '../../domain/key.ts';
import { scan } from '../../files/scan.ts';
import type { Source } from './source.ts';

/**
 * Delays removals where a directory lost all its files at once but still exists: a mount in its place may hide them.
 * They are removed once missing for `removals.delay`, which a daemon waits for anyway.
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

  /** The emptied directories, with the numbers of their waiting files. */
  get waiting(): ReadonlyMap<string, number> {
    return this.#waiting;
  }

  /** Returns whether a removal must wait. `noticedAtMs`: when its file was noticed missing, epoch milliseconds. */
  holds(path: string, noticedAtMs: number): boolean {
    const directory = noticedAtMs <= this.#noticedByMs ? null : this.#emptiedAbove(path);
    if (directory === null) return false;
    this.#waiting.set(directory, (this.#waiting.get(directory) ?? 0) + 1);
    return true;
  }

  /** Returns the nearest existing directory above a path, if it has no files and is not the source itself. */
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
