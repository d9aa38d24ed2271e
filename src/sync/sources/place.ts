import { FEW_FILES, type Halt } from '../../domain/guard.ts';
import { canonicalJson } from '../../domain/json.ts';
import { fileKey } from '../../domain/key.ts';
import type { StateReader, SyncTarget } from '../../store/state-reader.ts';
import { filesAtStake } from './recorded-files.ts';
import { isFound } from './presence.ts';
import type { Source } from './source.ts';

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
export function checkPlace(source: Source, target: number, state: StateReader): Halt | null {
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
