import type { RelativePath } from '../../domain/brands.ts';
import { emptySummary } from '../../domain/report.ts';
import { scan } from '../../scan/scan.ts';
import type { SyncContext, Transfer } from '../pass/sync-context.ts';
import { otherSpellingOf } from '../sources/presence.ts';
import { isStillThere } from '../sources/directory-identity.ts';
import type { Source } from '../sources/source.ts';
import { walk } from '../pass/walk.ts';
import type { Workers } from '../pass/workers.ts';

/**
 * Rescans one path of a source and what lies below it, as a pass would come upon it. Sends may still run when
 * it ends. Nothing is done for a source that is halted, or whose directory is not the one that was checked.
 */
export async function rescanPath(
  source: Source,
  path: RelativePath,
  syncContext: SyncContext,
  workers: Workers,
  transfer: Transfer,
): Promise<void> {
  const { state, walkStates } = syncContext;
  const { name } = source.config;
  const walkState = walkStates.get(name);
  if (walkState === undefined || walkState === 'halted' || !isStillThere(source)) return;
  // Our own state file may be among them: what is written for it must not lead to the next rescan.
  if (source.filter.ignoresFile(path)) return;
  syncContext.round.hadRescans = true;
  state.problems.dropAt(name, path);
  syncContext.round.unsent.forget(name, path);
  const listed = otherSpellingOf(source, path);
  if (listed !== null) syncContext.changeFeed.rescan(name, listed);
  const target = state.targetId(source.syncTarget);
  const range = {
    source,
    target,
    entries: scan(source, path),
    records: state.recordsAt(target, name, path),
    // Something happened to it. Where that does not show in what a file is recognised by, its content tells.
    isInDoubt: () => true,
  };
  const walked = { summary: emptySummary(), transfer, workers, isForced: () => false, retriesFailed: true };
  const ended = await walk(range, { ...syncContext, ...walked });
  if (ended !== 'incomplete') return;
  syncContext.round.unseen.add(name);
  if (walkStates.get(name) === 'complete') walkStates.set(name, 'incomplete');
}

/** Whether a path of a source is a directory now, which may hold any number of files. */
export function isDirectory({ disk, root, symlinks }: Source, path: RelativePath): boolean {
  try {
    return (symlinks === 'skip' ? disk.lstat : disk.stat)(`${root}/${path}`).isDirectory();
  } catch {
    return false;
  }
}
