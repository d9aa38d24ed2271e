import { openReader } from '../../src/store/open-reader.ts';
import { openState } from '../../src/store/open.ts';
import type { StateReader } from '../../src/store/state-reader.ts';
import type { StateStore } from '../../src/store/state-store.ts';
import { prune } from '../../src/sync/pass/removals.ts';
import { digestOfKept, keptFiles } from '../../src/sync/sources/recorded-files.ts';
import type { FileRecord } from '../../src/domain/record.ts';
import type { Source } from '../../src/sync/sources/source.ts';
import { sourcesOf } from '../sync/prune-world.ts';
import type { World } from '../sync/world.ts';
import { idOf } from './model.ts';

/** Every kept file, or every other one, by a number. */
const matching = (number: number) => (path: string) => number % 2 === 0 || path.length % 2 === 0;

interface Kept {
  readonly source: Source;
  readonly files: readonly FileRecord[];
}

function kept(world: World, state: StateReader, number: number): Kept[] {
  return sourcesOf(world).map((source) => ({
    source,
    files: [...keptFiles(source, state, matching(number))],
  }));
}

const idsOf = (all: readonly Kept[]): string[] =>
  all.flatMap(({ source, files }) => files.map(({ key }) => idOf(source.config.botId, key)));

/** Has kept files pruned by the next pass. Returns their ids. */
export function markForPrune(world: World, nowMs: number, number: number): string[] {
  const opened = openState(world.config().stateFile, { checkThoroughly: false, nowMs });
  if (opened.kind !== 'open') throw new Error(opened.kind);
  const state: StateStore = opened.store;
  try {
    const all = kept(world, state, number);
    for (const { source, files } of all) prune(source, files, state);
    return idsOf(all);
  } finally {
    state.close();
  }
}

/** What somebody wants of a running daemon: the kept files of a source that were listed. */
export interface ListedForPrune {
  readonly wanted: {
    readonly source: string;
    readonly digest: string;
    readonly matches: (path: string) => boolean;
  };
  readonly ids: readonly string[];
}

/** Lists kept files beside a daemon that runs. */
export function listForPrune(world: World, number: number): ListedForPrune[] {
  const opened = openReader(world.config().stateFile, true);
  if (opened.kind !== 'open') throw new Error(opened.kind);
  try {
    return kept(world, opened.reader, number).map((one) => ({
      wanted: {
        source: one.source.config.name,
        digest: digestOfKept(one.files),
        matches: matching(number),
      },
      ids: idsOf([one]),
    }));
  } finally {
    opened.close();
  }
}
