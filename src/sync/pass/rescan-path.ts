import type { RelativePath } from '../../domain/key.ts';
import { scan } from '../../files/scan.ts';
import { otherSpellingOf } from '../sources/presence.ts';
import { isStillThere } from '../sources/directory-identity.ts';
import type { Source, FoundSource } from '../sources/source.ts';
import type { WalkContext } from './sync-context.ts';
import { walk } from './walk.ts';
import type { LostFile, SendAgain } from './note-status.ts';

/**
 * Rescans one path of a source and everything below it, as a pass would. Sends may still run when it returns. Returns
 * `false`, without a scan, if the source is halted or its directory is not the checked one.
 */
export async function rescanPath(source: Source, path: RelativePath, context: WalkContext): Promise<boolean> {
  const { state, walkStates, round, changeFeed } = context;
  const { name } = source.config;
  const walkState = walkStates.get(name);
  if (walkState === undefined || walkState === 'halted') return false;
  if (!isStillThere(source)) {
    changeFeed.lookAgain(name);
    return false;
  }
  // Our own state file may be among the ignored files: writing it must not cause the next rescan.
  if (source.filter.ignoresFile(path)) return true;
  round.hadRescans = true;
  state.problems.dropAt(name, path);
  round.unsent.forget(name, path);
  const listed = otherSpellingOf(source, path);
  if (listed !== null) changeFeed.rescan(name, listed);
  const target = state.targetId(source.syncTarget);
  const range = {
    source,
    target,
    entries: scan(source, path),
    records: state.recordsAt(target, name, path),
    // Its content may have changed although its fingerprint has not.
    isInDoubt: () => true,
  };
  const ended = await walk(range, { ...context, isForced: () => false, retriesFailed: true });
  if (ended === 'lost') changeFeed.lookAgain(name);
  if (ended === 'incomplete') {
    round.unseen.add(name);
    if (walkStates.get(name) === 'complete') walkStates.set(name, 'incomplete');
  }
  return true;
}

export function senderAgain(found: readonly FoundSource[], context: WalkContext): SendAgain {
  return async (lost) => {
    const left: LostFile[] = [];
    for (const one of lost) {
      const { source: name, path } = one.file;
      const of = found.find(({ config }) => config.name === name);
      const isRescanned = of?.kind === 'found' && (await rescanPath(of.source, path, context));
      if (!isRescanned) left.push(one);
    }
    await context.workers.idle();
    return left;
  };
}
