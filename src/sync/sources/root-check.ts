import type { Config } from '../../config/config.ts';
import type { Halt } from '../../domain/guard.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { isSameDirectory } from './directory-identity.ts';
import { checkMounts } from './mount-check.ts';
import { checkedMode, isLost, lacksFiles, look, filesAtStake } from './recorded-files.ts';
import { checkPlace } from './place.ts';
import type { Source } from './source.ts';

/**
 * Returns the halts that prevent walking a source, because its directory may not be the one of the last pass: a failed
 * mount is no deletion.
 *
 * A replaced directory passes if it has the files of the old one, as after a deployment, a restored backup or a move to
 * a new machine. Otherwise a mount may have failed. The same holds for places below it where file systems were mounted
 * or unmounted.
 */
export function checkRoot(
  source: Source,
  target: number,
  state: StateReader,
  isEmpty: boolean,
  mode: Config['removals']['mode'],
): Halt[] {
  const place = isEmpty ? null : checkPlace(source, target, state);
  return [...(place === null ? [] : [place]), ...checkDirectory(source, target, state, isEmpty, mode)];
}

/**
 * The part of `checkRoot` that concerns the directory on this machine, and not the place of its files on the platform.
 */
export function checkDirectory(
  source: Source,
  target: number,
  state: StateReader,
  isEmpty: boolean,
  mode: Config['removals']['mode'],
): Halt[] {
  const { root, identity } = source;
  const removals = checkedMode(source, target, state, mode);
  if (isEmpty) {
    const atStake = filesAtStake(lostFiles(source, target, state, removals));
    if (atStake.count === 0) return [];
    return [{ kind: 'emptied', directory: root, identity, atStake }];
  }
  return [
    checkIdentity(source, target, state, removals),
    checkMounts(source, target, state, removals),
  ].flatMap((halt) => halt ?? []);
}

function checkIdentity(
  source: Source,
  target: number,
  state: StateReader,
  removals: Config['removals']['mode'],
): Halt | null {
  const { root, identity, config } = source;
  const { directory, identity: before } = state.source(config.name) ?? { directory: root, identity: '' };
  // A user configured another directory. Where nothing is removed, that does no harm.
  if (directory !== root && removals === 'keep') return null;
  // In a directory that is new to this host, files are checked that another host of the cluster recorded.
  if (before !== '' && isSameDirectory(before, identity)) return null;
  const { looked, gone } = look(
    source,
    state.records(target, config.name),
    // An orphan may never have been in a directory that is new to this host.
    ({ absence }) => absence === null || (absence === 'orphan' && before !== ''),
  );
  const found = looked - gone.length;
  if (!lacksFiles({ looked, gone })) return null;
  return {
    kind: 'replaced',
    directory: root,
    identity,
    isKnown: before !== '',
    found,
    checked: looked,
    atStake: filesAtStake(gone),
  };
}

/** Yields the recorded files that an empty directory lacks, without those that are now ignored. */
function* lostFiles(
  source: Source,
  target: number,
  state: StateReader,
  removals: Config['removals']['mode'],
): Generator<string, void> {
  const records = state.records(target, source.config.name);
  for (let record = records.current; record !== null; record = records.current) {
    if (isLost(record, removals) && !source.filter.ignoresFile(record.path)) yield record.path;
    records.advance();
  }
}
