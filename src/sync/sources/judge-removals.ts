import type { Config } from '../../config/config.ts';
import {
  guardRemovals,
  REMOVAL_WINDOW_MS,
  type FilesAtStake,
  type RemovalExcess,
} from '../../domain/guard.ts';
import type { FileRecord } from '../../domain/record.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { filesAtStake } from './recorded-files.ts';
import { changedMounts } from './mounts.ts';
import type { Source } from './source.ts';
import type { RelativePath } from '../../domain/key.ts';
import { scan } from '../../files/scan.ts';

export interface RemovalTerms {
  readonly state: StateReader;
  readonly config: Config;
  /** Epoch milliseconds. */
  readonly nowMs: number;
}

/**
 * Returns why and which removals of a source are held back; `null`: none. There may be too many. Or orphans may be
 * hidden, below a directory without files or a file system that was mounted or unmounted, because their records may be
 * older than that.
 *
 * @param removals - the removals without approval, in path order.
 * @param recorded - files of the source on record, including those to be removed.
 */
export function judgeRemovals(
  source: Source,
  removals: Iterable<Pick<FileRecord, 'path' | 'absence'>>,
  recorded: number,
  { state, config, nowMs }: RemovalTerms,
): { readonly excess: RemovalExcess; readonly atStake: FilesAtStake } | null {
  const { name } = source.config;
  const changed = changedMounts(source, state.mounts(name));
  const look = new SecondLook(source, nowMs, 1);
  let hidden = 0;
  const paths = function* (): Generator<string, void> {
    for (const { path, absence } of removals) {
      const isOrphan = absence === 'orphan';
      const isBelow = isOrphan && changed.some(({ place }) => path.startsWith(`${place}/`));
      if (isBelow || (isOrphan && look.holds(path, nowMs))) hidden += 1;
      yield path;
    }
  };
  const atStake = filesAtStake(paths());
  const recent = state.countRemovals(name, nowMs - REMOVAL_WINDOW_MS);
  const excess: RemovalExcess | null =
    hidden === 0
      ? guardRemovals(atStake.count, recent, recorded + recent, config.removals)
      : { kind: 'hidden', orphans: hidden };
  return excess === null ? null : { excess, atStake };
}

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
