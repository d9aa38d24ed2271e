import type { Config } from '../config/config.ts';
import { UsageError } from './usage-error.ts';
import { scan } from '../scan/scan.ts';
import { systemClock } from '../service/system-clock.ts';
import { Turns } from '../sync/plan/turns.ts';
import { hintFor } from '../sync/plan/unmatched-patterns.ts';
import { findSources, type Source } from '../sync/sources/source.ts';
import { forced, type SyncOptions } from './sync-options.ts';

/**
 * Throws `UsageError` where `--force` has a pattern that matches no file: whoever wrote it wants something sent again, and
 * should hear of it before anything else is done. Where not every file can be seen nothing is said; the pass tells more.
 */
export async function demandForcedFile(options: SyncOptions, config: Config): Promise<void> {
  const { force } = options;
  // Alone it is about all files, be there none.
  if (force === undefined || force === '') return;
  const { isForced } = forced(options);
  const sources: Source[] = [];
  // By which name the platform goes does not matter for files.
  for (const found of findSources(config, '')) {
    if (found.kind === 'missing') return;
    if ((await lookFor(found.source, isForced)) !== 'none') return;
    sources.push(found.source);
  }
  throw new UsageError(
    `--force ${JSON.stringify(force)} matches no file, so nothing was sent; ${hintFor([force], sources)}`,
  );
}

/** Whether a source has a file that is wanted; `unknown`: it has none at all, or not all could be seen. */
async function lookFor(
  source: Source,
  isWanted: (path: string) => boolean,
): Promise<'some' | 'none' | 'unknown'> {
  const turns = new Turns(systemClock);
  let hasFiles = false;
  let isUnseen = false;
  try {
    for (const entry of scan(source)) {
      if (entry.kind === 'file') {
        if (isWanted(entry.path)) return 'some';
        hasFiles = true;
      } else if (entry.kind === 'unseen' || entry.kind === 'unlisted') isUnseen = true;
      const turn = turns.step();
      if (turn !== null) await turn;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return 'unknown';
  }
  return hasFiles && !isUnseen ? 'none' : 'unknown';
}
