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
import { SecondLook } from './second-look.ts';
import type { Source } from './source.ts';

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
