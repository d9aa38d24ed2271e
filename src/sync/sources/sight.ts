import type { RemovalMode } from '../../domain/record.ts';
import { isUnseen, type UnseenHalt } from '../../domain/hindrance.ts';
import { scan } from '../../files/scan.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { isEmptySign } from './enter-source.ts';
import { isFound } from './presence.ts';
import { checkDirectory } from './root-check.ts';
import type { Source } from './source.ts';

/**
 * The state of a source's directory at a quick check. Results for one directory are valid for another with an equal
 * sight.
 */
export interface Sight {
  readonly isEmpty: boolean;
  readonly identity: string;
  readonly mounts: readonly string[];
}

/** Checks a directory, up to its first file. Throws errors of the file system. */
export function lookAtDirectory(source: Source): Sight {
  const { identity, mounts } = source;
  for (const { kind } of scan(source)) if (!isEmptySign(kind)) return { isEmpty: false, identity, mounts };
  return { isEmpty: true, identity, mounts };
}

/** Returns the recorded halt of a source, as long as its cause remains. */
export function haltThatStands(source: Source, { isEmpty }: Sight, state: StateReader): UnseenHalt | null {
  const halt = state.source(source.config.name)?.halt ?? null;
  if (halt === null || halt.kind === 'missing' || !isUnseen(halt)) return null;
  if (halt.kind === 'emptied') return isEmpty ? halt : null;
  return halt.atStake.first.some((path) => isFound(source, path)) ? null : halt;
}

/** Returns the halt that this host's view of the directory would cause. `state` may have only some of the records. */
export function haltAtSight(
  source: Source,
  { isEmpty }: Sight,
  state: StateReader,
  removals: RemovalMode,
): UnseenHalt | null {
  const target = state.targetId(source.syncTarget);
  return checkDirectory(source, target, state, isEmpty, removals).find(isUnseen) ?? null;
}
