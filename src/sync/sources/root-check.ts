import type { Config } from '../../config/config.ts';
import { type Halt, FEW_FILES } from '../../domain/guard.ts';
import type { StateReader, SyncTarget } from '../../store/state-reader.ts';
import { isSameDirectory } from './directory-identity.ts';
import { checkedMode, isLost, lacksFiles, look, filesAtStake, type Look } from './recorded-files.ts';
import type { Source } from './source.ts';
import type { RemovalMode } from '../../domain/record.ts';
import { changedMounts } from './mounts.ts';
import { canonicalJson } from '../../domain/json.ts';
import { fileKey } from '../../domain/key.ts';
import { isFound } from './presence.ts';

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

/**
 * Returns a halt if a file system was mounted or unmounted below a source since the last pass, and most files below
 * that place are gone. Where nothing is removed, that does no harm.
 */
function checkMounts(source: Source, target: number, state: StateReader, removals: RemovalMode): Halt | null {
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

/** The place of a source's files on the platform: their target, and the beginning of their keys. */
type Place = SyncTarget & { readonly keyPrefix: string };

/** Returns the place of a source in the format of `StateReader.place`. */
export function placeOfSource({ syncTarget, config }: Source): string {
  const place: Place = { ...syncTarget, keyPrefix: config.keyPrefix };
  return canonicalJson({ ...place });
}

/**
 * Returns the halt of a source whose files would all be sent again, because its bot or keys have changed; `null`: they
 * have not, or few files are affected.
 */
function checkPlace(source: Source, target: number, state: StateReader): Halt | null {
  const { name } = source.config;
  const place = state.place(name);
  const to = placeOfSource(source);
  if (place === null || place === to) return null;
  const before = JSON.parse(place) as Place;
  const from = state.targetId(before);
  const hasMoved = state.source(name)?.directory !== source.root;
  const filesToSend = function* (): Generator<string, void> {
    const records = state.records(from, name);
    for (let { current } = records; current !== null; { current } = records) {
      records.advance();
      if (current.absence !== null || (hasMoved && !isFound(source, current.path))) continue;
      const key = fileKey(source.config.keyPrefix, current.path);
      if (state.find({ target, key }) === null) yield current.path;
    }
  };
  const atStake = filesAtStake(filesToSend());
  if (atStake.count <= FEW_FILES) return null;
  const { present: recorded } = state.countRecorded(from, name);
  return { kind: 'new-keys', from: place, to, recorded, changes: changesOf(source, before), atStake };
}

type PlaceChange = Extract<Halt, { kind: 'new-keys' }>['changes'][number];

function changesOf({ position, config, syncTarget }: Source, before: Place): PlaceChange[] {
  const fields: readonly (readonly [string, string, string])[] = [
    [`sources[${position}].keyPrefix`, before.keyPrefix, config.keyPrefix],
    [`sources[${position}].botId`, before.botId, syncTarget.botId],
    ['platform.baseUrl', before.baseUrl, syncTarget.baseUrl],
    ['platform.identity', before.identity, syncTarget.identity],
  ];
  return fields.flatMap(([field, old, now]) => (old === now ? [] : [{ field, before: old, now }]));
}
