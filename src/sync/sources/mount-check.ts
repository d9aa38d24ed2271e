import type { RemovalMode } from '../../domain/record.ts';
import type { Halt } from '../../domain/guard.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { filesAtStake, checkedMode, isLost, lacksFiles, look, type Look } from './recorded-files.ts';
import { changedMounts } from './mounts.ts';
import type { Source } from './source.ts';

/**
 * Returns a halt if a file system was mounted or unmounted below a source since the last pass, and most files below
 * that place are gone. Where nothing is removed, that does no harm.
 */
export function checkMounts(
  source: Source,
  target: number,
  state: StateReader,
  removals: RemovalMode,
): Halt | null {
  if (removals === 'keep') return null;
  const lookBelow = lookerBelow(source, target, state, removals);
  const changed = changedMounts(source, state.mounts(source.config.name)).filter(({ place }) =>
    lacksFiles(lookBelow(place)),
  );
  if (changed.length === 0) return null;
  const gone = changed.flatMap(({ place }) => lookBelow(place, Infinity).gone);
  return {
    kind: 'mounts-changed',
    directory: source.root,
    mounts: changed,
    atStake: filesAtStake([...new Set(gone)].sort()),
  };
}

/**
 * Returns the mounts to record for a source: those at its last check, and later ones that hide no files. The next pass
 * halts for the others.
 */
export function mountsToRemember(
  source: Source,
  target: number,
  state: StateReader,
  mode: RemovalMode,
): string[] {
  const lookBelow = lookerBelow(source, target, state, checkedMode(source, target, state, mode));
  const came = changedMounts(source, source.mounts).filter(
    ({ place, isMounted }) => isMounted && !lacksFiles(lookBelow(place)),
  );
  return [...source.mounts, ...came.map(({ place }) => place)].sort();
}

/** Returns a function that looks for the recorded files below a place of a source. */
function lookerBelow(
  source: Source,
  target: number,
  state: StateReader,
  removals: RemovalMode,
): (place: string, most?: number) => Look {
  return (place, most) =>
    look(
      source,
      state.recordsAt(target, source.config.name, place),
      (record) => isLost(record, removals),
      most,
    );
}
