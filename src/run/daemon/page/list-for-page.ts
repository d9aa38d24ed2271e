import { systemClock } from '../../../service/system-clock.ts';
import type { FilePage } from '../../../page/files.ts';
import type { FilesQuery } from '../../../page/files-query.ts';
import { listFiles, type FileEntry, type ListedFile, type ListPlace } from '../../../sync/plan/list-files.ts';
import { Turns } from '../../../sync/plan/turns.ts';
import { findSources } from '../../../sync/sources/source.ts';
import { platformName, type RunTarget } from '../../run-base.ts';
import type { DaemonState } from '../daemon-state.ts';
import type { RunningDaemon } from '../daemons.ts';

interface PageLimits {
  /** Files on one page of the list. */
  readonly shown: number;
  /** Files that are checked for one page: after that the visitor continues. */
  readonly checked: number;
}

const LIMITS: PageLimits = { shown: 100, checked: 100_000 };

/** Records of this host, with the configuration of their sources. */
type Held = Pick<RunningDaemon, 'config' | 'state'>;

/**
 * Lists files as `botsync ls` does, one page at a time, and lets other work run in between. Returns a sentence if there is no
 * list. Throws `StateFileError`.
 *
 * @param heldNow - `null`: nothing is open.
 */
export async function listForPage(
  query: FilesQuery,
  target: RunTarget,
  heldNow: () => readonly Held[] | null,
  { shown, checked: mostChecked } = LIMITS,
): Promise<FilePage | string> {
  const held = heldNow();
  if (held === null) return 'The state file is not open.';
  const turns = new Turns(systemClock);
  const entries: FileEntry[] = [];
  let last: ListPlace | null = null;
  let checked = 0;
  for (const listed of walk(held, query, target)) {
    // A page ends between paths, since several records of one path have the same place.
    const isEnd: boolean = last !== null && !isSame(last, listed.place);
    if (isEnd && checked >= mostChecked) return { entries, next: last, checked };
    if (matches(listed, query)) {
      if (isEnd && entries.length >= shown) return { entries, next: last, checked: null };
      entries.push(listed.entry());
    }
    checked += 1;
    last = listed.place;
    const turn = turns.step();
    if (turn === null) continue;
    await turn;
    // The state file, or a lease, may have ended in the meantime.
    if (!isStillHeld(held, heldNow())) return 'The list was interrupted; reload the page.';
  }
  return { entries, next: null, checked: null };
}

/** Returns what a daemon reads records from; `null`: nothing is open. */
export function heldBy({
  loaded: { config },
  running,
  state,
  cluster,
}: Pick<DaemonState, 'loaded' | 'running' | 'state' | 'cluster'>): readonly Held[] | null {
  if (running.length > 0 || cluster !== null) return running;
  return state === null ? null : [{ config, state }];
}

function isStillHeld(held: readonly Held[], now: readonly Held[] | null): boolean {
  return held.every(({ state }) => now?.some((one) => one.state === state));
}

function* walk(held: readonly Held[], query: FilesQuery, target: RunTarget): Generator<ListedFile, void> {
  const { source, after } = query;
  const parts = held.map(({ config, state }) => {
    const name = platformName(target, config);
    const sources = findSources(config, name).filter((one) => source === '' || one.config.name === source);
    return { config, platformName: name, sources, state, nowMs: Date.now() + state.platformAheadMs() };
  });
  const first = parts.findIndex(({ sources }) => sources.some(({ config }) => config.name === after?.source));
  for (const [index, part] of parts.entries())
    if (index >= first) yield* listFiles(part, index === first ? after : null);
}

function matches({ place, group }: ListedFile, { state, text }: FilesQuery): boolean {
  return (
    (state === '' || group === state) &&
    (text === '' || place.path.toLowerCase().includes(text.toLowerCase()))
  );
}

function isSame(a: ListPlace, b: ListPlace): boolean {
  return a.path === b.path && a.source === b.source && a.target === b.target;
}
