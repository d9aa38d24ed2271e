import { describeHalt } from '../../words/halt.ts';
import { describeFailure, describeReason } from '../../words/obstacle.ts';
import type { Config } from '../../config/config.ts';
import { absenceActionOf, type FileRecord } from '../../domain/record.ts';
import type { FileKey } from '../../domain/key.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { presenceOf } from '../sources/presence.ts';
import { targetOf, type FoundSource } from '../sources/source.ts';

/**
 * The known state of a file on the platform:
 * - `searchable`, `stored`: confirmed by the platform; `sent`: not confirmed.
 * - `sending`, `failed`, `refused`: the last attempt to send it.
 * - `unsearchable`: it could not be indexed.
 * - `different`: not as it was sent; `replaced`: somebody else's file is in its place.
 * - `kept`: no longer synced, and left alone.
 * - `to-remove`: it will be removed; `removed`: an empty file that expires replaces it.
 * - `expired`: it has expired.
 * - `none`: the platform has nothing of it.
 */
export type PlatformState =
  | 'searchable'
  | 'stored'
  | 'sent'
  | 'sending'
  | 'failed'
  | 'refused'
  | 'unsearchable'
  | 'different'
  | 'replaced'
  | 'kept'
  | 'to-remove'
  | 'removed'
  | 'expired'
  | 'none';

/** One file in the output of `botsync ls`. */
export interface FileEntry {
  readonly source: string;
  readonly path: string;
  readonly key: string | null;
  readonly botId: string;
  /** The file in the directory; `unknown`: it cannot be checked. */
  readonly local: 'there' | 'gone' | 'unknown';
  readonly platform: PlatformState;
  readonly bytes: number;
  /** It should be indexed, and is not known to be searchable. */
  readonly isUnindexed: boolean;
  /** ISO 8601; `null`: never. */
  readonly expiresAt: string | null;
  /** The reason for the state, if any. */
  readonly reason: string | null;
}

/** `nowMs`: the platform's time, epoch milliseconds. */
export interface ListInput {
  readonly config: Config;
  readonly platformName: string;
  readonly sources: readonly FoundSource[];
  readonly state: StateReader;
  readonly nowMs: number;
}

const MOST_UNSENT = 10_000;

/** Yields all recorded files, by source in path order, then those that could not be sent at all. */
export function* listFiles(input: ListInput): Generator<FileEntry, void> {
  const { config, platformName, sources, state } = input;
  const targets = new Map<string, number>();
  for (const found of sources) {
    const { name } = found.config;
    const target = state.targetId(targetOf(config, found.config, platformName));
    targets.set(name, target);
    const cursor = state.records(target, name);
    for (let sent = cursor.current; sent !== null; sent = cursor.current) {
      yield entryOf(sent, found, input);
      cursor.advance();
    }
    for (const former of state.targetsOf(name)) {
      if (former.target === target) continue;
      const left = state.records(former.target, name);
      for (let sent = left.current; sent !== null; sent = left.current) {
        if (sent.uploaded) yield { ...entryOf(sent, found, input), botId: former.botId, platform: 'kept' };
        left.advance();
      }
    }
  }
  for (const failure of state.overview.failures(targets, MOST_UNSENT, input.nowMs)) {
    const { source, path, key, kind, reason } = failure;
    if (kind !== 'refuse' && kind !== 'problem') continue;
    const target = targets.get(source) ?? 0;
    if (key !== null && state.find({ target, key: key as FileKey }) !== null) continue;
    const found = sources.find(({ config: { name } }) => name === source);
    const local = found === undefined ? 'unknown' : presence(found, path);
    const platform = kind === 'refuse' ? 'refused' : 'none';
    const botId = found?.config.botId ?? '';
    yield {
      source,
      path,
      key,
      botId,
      local,
      platform,
      bytes: 0,
      isUnindexed: false,
      expiresAt: null,
      reason: describeReason(reason),
    };
  }
}

/** Returns the entry of a record. */
export function entryOf(
  sent: FileRecord,
  found: FoundSource,
  input: Omit<ListInput, 'sources' | 'platformName'>,
): FileEntry {
  const { state } = input;
  const { source, path, key, sizeBytes, expiresAtMs, settingsDigest, verdict, absence } = sent;
  const local = presence(found, path);
  const halt = state.source(source)?.halt ?? null;
  const platform = platformState(sent, local, halt !== null, input);
  const isSynced = absence === null && sent.state === 'synced';
  return {
    source,
    path,
    key,
    botId: found.config.botId,
    local,
    platform,
    bytes: sizeBytes,
    isUnindexed:
      isSynced && verdict !== 'searchable' && state.remote.toldSettings(settingsDigest)?.index === true,
    expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
    reason:
      platform === 'to-remove' && halt !== null
        ? `held back, because the source is halted: ${describeHalt(halt)}`
        : describeFailure(sent),
  };
}

function platformState(
  sent: FileRecord,
  local: FileEntry['local'],
  isHalted: boolean,
  { config, nowMs }: Pick<ListInput, 'config' | 'nowMs'>,
): PlatformState {
  // A walk that a halt prevented has not noticed which files are gone.
  const isUnnoticed = sent.absence === null && isHalted && local === 'gone';
  const absence = isUnnoticed ? 'removed' : sent.absence;
  if (absence === null) return stateOfPresent(sent, nowMs);
  switch (absenceActionOf(sent, absence, config.removals.mode)) {
    case 'remove':
      return 'to-remove';
    case 'keep':
      return 'kept';
    case 'tombstone':
      return 'removed';
    case 'forget':
    case 'none':
    case 'unknown':
      return 'none';
  }
}

function stateOfPresent({ state, differs, verdict, expiresAtMs }: FileRecord, nowMs: number): PlatformState {
  if (state === 'removing') return 'removed';
  if (state !== 'synced') return state;
  if (expiresAtMs !== null && expiresAtMs <= nowMs) return 'expired';
  if (differs !== null) return differs === 'replaced' ? 'replaced' : 'different';
  return verdict ?? 'sent';
}

function presence(found: FoundSource, path: string): FileEntry['local'] {
  if (found.kind === 'missing') return 'unknown';
  return presenceOf(found.source, path);
}
