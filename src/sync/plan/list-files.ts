import { describeHalt } from '../../words/halt.ts';
import { describeFailure, describeObstacle } from '../../words/obstacle.ts';
import type { Config } from '../../config/config.ts';
import type { Halt } from '../../domain/guard.ts';
import { absenceActionOf, type FileRecord } from '../../domain/record.ts';
import { compareUtf8, fileKey, type RelativePath } from '../../domain/key.ts';
import type { FileGroup, PlatformState } from '../../domain/status.ts';
import type { Problem } from '../../store/problems.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { lookAtPath, presenceOf } from '../sources/presence.ts';
import { targetOf, type FoundSource } from '../sources/source.ts';

/** One file in the output of `botsync ls`. */
export interface FileEntry {
  readonly source: string;
  readonly path: string;
  readonly key: string | null;
  readonly botId: string;
  /** The file in the directory; `unknown`: it cannot be checked. */
  readonly local: 'there' | 'gone' | 'unknown';
  readonly platform: PlatformState;
  readonly group: FileGroup;
  readonly bytes: number;
  /** It should be indexed, and is not known to be searchable. */
  readonly isUnindexed: boolean;
  /** It has the key and the bot of the current configuration. */
  readonly isUnderOwnKey: boolean;
  /** ISO 8601; `null`: never. */
  readonly expiresAt: string | null;
  /** The reason for the state, if any. */
  readonly reason: string | null;
}

/** A place in the list. `target`: the number of the target in the state file. */
export interface ListPlace {
  readonly source: string;
  readonly target: number;
  readonly path: string;
}

/** A file as the records have it. */
export interface ListedFile {
  readonly place: ListPlace;
  readonly platform: PlatformState;
  readonly group: FileGroup;
  /** Also checks the file in the directory. */
  readonly entry: () => FileEntry;
}

/** `nowMs`: the platform's time, epoch milliseconds. */
export interface ListInput {
  readonly config: Config;
  readonly platformName: string;
  readonly sources: readonly FoundSource[];
  readonly state: StateReader;
  readonly nowMs: number;
}

/** A source at one target, with what its files have in common. */
interface Section {
  readonly found: FoundSource;
  readonly target: number;
  readonly botId: string;
  readonly halt: Halt | null;
  /** The platform reports the status of files. */
  readonly isAsked: boolean;
  /** The configuration has another bot or identity now. */
  readonly isFormer: boolean;
}

/**
 * Yields all files that are recorded or could not be sent at all, by source in path order. Files of a path with records under
 * several keys have the same place.
 *
 * @param after - begins after this place; `null`: at the beginning.
 */
export function* listFiles(input: ListInput, after: ListPlace | null = null): Generator<ListedFile, void> {
  const { sources } = input;
  const first = sources.findIndex(({ config }) => config.name === after?.source);
  for (const [index, found] of sources.entries()) {
    if (index < first) continue;
    const sections = sectionsOf(found, input);
    const begun = index === first ? sections.findIndex(({ target }) => target === after?.target) : -1;
    for (const [at, section] of sections.entries()) {
      if (at < begun) continue;
      const path = index === first && at === Math.max(0, begun) ? (after?.path ?? '') : '';
      yield* section.isFormer ? listFormer(section, path, input) : listOwn(section, path, input);
    }
  }
}

function ownSection(found: FoundSource, { config, platformName, state }: ListInput): Section {
  const { name, botId } = found.config;
  const target = state.targetId(targetOf(config, found.config, platformName));
  const halt = state.source(name)?.halt ?? null;
  const isAsked = state.remote.unserved(target, 'list') === null;
  return { found, target, botId, halt, isAsked, isFormer: false };
}

function sectionsOf(found: FoundSource, input: ListInput): Section[] {
  const own = ownSection(found, input);
  const former = input.state.targetsOf(found.config.name).filter(({ target }) => target !== own.target);
  return [own, ...former.map((one) => ({ ...own, ...one, isFormer: true }))];
}

/** Returns the entry of a record at the current target. */
export function entryOf(sent: FileRecord, found: FoundSource, input: ListInput): FileEntry {
  return ofRecord(sent, null, ownSection(found, input), input).entry();
}

/** Merges records and problems, which are in the same order. */
function* listOwn(section: Section, after: string, input: ListInput): Generator<ListedFile, void> {
  const { name } = section.found.config;
  const records = input.state.records(section.target, name, after);
  const problems = input.state.overview.problemsOf(name, after);
  // The path of the last record with a problem.
  let joined: string | null = null;
  for (;;) {
    const sent = records.current;
    const problem = problems.current;
    const isNext = sent !== null && (problem === null || compareUtf8(sent.path, problem.path) <= 0);
    if (isNext) {
      const own = problem?.path === sent.path ? problem : null;
      if (own !== null) joined = own.path;
      yield ofRecord(sent, own, section, input);
      records.advance();
    } else {
      if (problem === null) return;
      if (problem.path !== joined) yield ofProblem(problem, section);
      problems.advance();
    }
  }
}

function* listFormer(section: Section, after: string, input: ListInput): Generator<ListedFile, void> {
  const left = input.state.records(section.target, section.found.config.name, after);
  for (let sent = left.current; sent !== null; sent = left.current) {
    if (sent.uploaded) yield ofRecord(sent, null, section, input);
    left.advance();
  }
}

function ofRecord(sent: FileRecord, problem: Problem | null, section: Section, input: ListInput): ListedFile {
  const { found, botId, halt, isFormer } = section;
  const { source, path, key, sizeBytes, expiresAtMs, settingsDigest, verdict, absence } = sent;
  // A walk that a halt prevented has not noticed which files are gone.
  const isUnnoticed = absence === null && halt !== null && presence(found, path) === 'gone';
  const platform = isFormer ? 'kept' : platformState(sent, isUnnoticed ? 'removed' : absence, input);
  const group = problem === null ? groupOf(sent, platform, section) : GROUP_OF_PROBLEM[problem.kind];
  const isSynced = absence === null && sent.state === 'synced';
  const reason =
    platform === 'to-remove' && halt !== null
      ? `held back, because the source is halted: ${describeHalt(halt)}`
      : describeFailure(sent);
  return {
    place: { source, target: section.target, path },
    platform,
    group,
    entry: () => ({
      ...{ source, path, key, botId, platform, group },
      local: presence(found, path),
      bytes: sizeBytes,
      isUnindexed:
        isSynced &&
        verdict !== 'searchable' &&
        input.state.remote.toldSettings(settingsDigest)?.index === true,
      isUnderOwnKey: botId === found.config.botId && fileKey(found.config.keyPrefix, path) === key,
      expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
      reason: problem === null ? reason : describeObstacle(problem.reason),
    }),
  };
}

function ofProblem(problem: Problem, { found, target, botId }: Section): ListedFile {
  const { source, path, key, kind } = problem;
  const platform = kind === 'refuse' ? 'refused' : 'none';
  const group = GROUP_OF_PROBLEM[kind];
  return {
    place: { source, target, path },
    platform,
    group,
    entry: () => ({
      ...{ source, path, key, botId, platform, group },
      local: presence(found, path),
      bytes: sizeHere(found, path),
      ...{ isUnindexed: false, expiresAt: null },
      isUnderOwnKey: key === null || fileKey(found.config.keyPrefix, path as RelativePath) === key,
      reason: describeObstacle(problem.reason),
    }),
  };
}

const GROUP_OF_PROBLEM: Readonly<Record<Problem['kind'], FileGroup>> = {
  refuse: 'refused',
  problem: 'problem',
  pending: 'waiting',
};

/** Groups files as `botsync status` counts them. */
function groupOf(
  { state, failure, askAtMs }: FileRecord,
  platform: PlatformState,
  { isAsked }: Section,
): FileGroup {
  switch (platform) {
    case 'searchable':
    case 'stored':
      return 'in-sync';
    case 'sent':
      return isAsked && askAtMs !== null ? 'unconfirmed' : 'in-sync';
    case 'sending':
      return failure === null ? 'sending' : 'failed';
    case 'failed':
    case 'different':
    case 'replaced':
      return 'failed';
    case 'refused':
    case 'unsearchable':
    case 'kept':
      return platform;
    case 'to-remove':
      return state === 'removing' && failure !== null ? 'failed' : 'to-remove';
    case 'removed':
    case 'expired':
    case 'none':
      return 'gone';
  }
}

function platformState(
  sent: FileRecord,
  absence: FileRecord['absence'],
  { config, nowMs }: ListInput,
): PlatformState {
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

/** Returns the size of a file in the directory, bytes; 0 if it is not there. */
function sizeHere(found: FoundSource, path: string): number {
  const look = found.kind === 'missing' ? null : lookAtPath(found.source, path);
  return look?.kind === 'file' ? Number(look.sizeBytes) : 0;
}

function presence(found: FoundSource, path: string): FileEntry['local'] {
  if (found.kind === 'missing') return 'unknown';
  return presenceOf(found.source, path);
}
