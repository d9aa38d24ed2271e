import type { RemovalMode } from '../../domain/record.ts';
import { isUnseen, type UnseenHalt } from '../../domain/hindrance.ts';
import { scan } from '../../files/scan.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { isEmptySign } from './enter-source.ts';
import { isFound } from './presence.ts';
import { checkDirectory } from './root-check.ts';
import type { Source } from './source.ts';

/** The directory of a source as it is seen in passing: of two that are equal what was found of the one holds for the other. */
export interface Sight {
  readonly isEmpty: boolean;
  readonly identity: string;
  readonly mounts: readonly string[];
}

/** Looks at a directory, up to its first file. Throws what the file system says. */
export function lookAtDirectory(source: Source): Sight {
  const { identity, mounts } = source;
  for (const { kind } of scan(source)) if (!isEmptySign(kind)) return { isEmpty: false, identity, mounts };
  return { isEmpty: true, identity, mounts };
}

/** Returns the halt that a pass over a source met, as long as what it met is as it was. */
export function haltThatStands(source: Source, { isEmpty }: Sight, state: StateReader): UnseenHalt | null {
  const halt = state.source(source.config.name)?.halt ?? null;
  if (halt === null || halt.kind === 'missing' || !isUnseen(halt)) return null;
  if (halt.kind === 'emptied') return isEmpty ? halt : null;
  return halt.atStake.first.some((path) => isFound(source, path)) ? null : halt;
}

/** Returns what would halt a source because of what this host sees of its directory. `state`: some of its records will do. */
export function haltAtSight(
  source: Source,
  { isEmpty }: Sight,
  state: StateReader,
  removals: RemovalMode,
): UnseenHalt | null {
  const target = state.targetId(source.syncTarget);
  return checkDirectory(source, target, state, isEmpty, removals).find(isUnseen) ?? null;
}
