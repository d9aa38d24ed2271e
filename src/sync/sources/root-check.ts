import type { Config } from '../../config/config.ts';
import type { Halt } from '../../domain/guard.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { isSameDirectory } from './directory-identity.ts';
import { checkMounts } from './mount-check.ts';
import { checkedMode, isLost, lacksFiles, look, filesAtStake } from './recorded-files.ts';
import { checkPlace } from './place.ts';
import type { Source } from './source.ts';

/**
 * What speaks against a source's directory being what it was last time: a failed mount is no deletion.
 *
 * A directory that was replaced passes when it holds the files the old one had: a deployment, a restored backup, a new
 * machine. When it does not, it may be the place where something failed to be mounted. The same goes for the places below it
 * where a file system came or went.
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

/** The part of `checkRoot` that is about what this machine sees of the directory, and not about where its files go. */
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
  // Someone named another directory. Where nothing is ever removed, that does no harm.
  if (directory !== root && removals === 'keep') return null;
  // Files that another host of a cluster recorded are looked for in a directory that this one has not seen before.
  if (before !== '' && isSameDirectory(before, identity)) return null;
  const { looked, gone } = look(
    source,
    state.records(target, config.name),
    // Nothing says that an orphan was ever in a directory that was not seen before.
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

/** Yields the recorded files that an empty directory lacks; none once all were newly ignored. */
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
