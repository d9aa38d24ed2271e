import type { GlobalOptions } from './global-options.ts';
import { readGlob, readWait } from './arguments.ts';
import { UsageError } from './usage-error.ts';
import type { Config } from '../config/config.ts';
import { scan } from '../files/scan.ts';
import { systemClock } from '../service/system-clock.ts';
import { Turns } from '../sync/plan/turns.ts';
import { hintFor } from '../sync/plan/pattern-warnings.ts';
import { type Source, findSources } from '../sync/sources/source.ts';

export interface SyncOptions extends GlobalOptions {
  readonly once: boolean;
  readonly dryRun: boolean;
  readonly force: string | undefined;
  readonly allowRemovals: boolean;
  /** A duration; `undefined`: `confirm.wait`. */
  readonly wait: string | undefined;
  readonly noWait: boolean;
  /** Shows quotas and what the run would add. */
  readonly usage: boolean;
  /** Opens the page of the daemon in a browser. */
  readonly open: boolean;
}

export interface Forced {
  readonly isForced: (path: string) => boolean;
  /** Warns if the pattern matched no file. */
  readonly warnIfUnused: (view: Warned) => void;
}

/** Parses `--force`. Throws `UsageError`. */
export function forced({ force }: Pick<SyncOptions, 'force'>): Forced {
  if (force === undefined) return { isForced: () => false, warnIfUnused: () => undefined };
  const matches = readGlob('--force', force === '' ? '**' : force);
  let hasMatched = false as boolean;
  return {
    isForced: (path) => {
      const isForced = matches(path);
      hasMatched ||= isForced;
      return isForced;
    },
    warnIfUnused: (view) => {
      if (!hasMatched) view.warn(`--force ${force}: no file matches`);
    },
  };
}

/**
 * Returns how long a single pass waits for confirmation, in milliseconds; `undefined`: as configured. Throws
 * `UsageError`.
 */
export function waitMsOf({ wait, noWait }: Pick<SyncOptions, 'wait' | 'noWait'>): number | undefined {
  if (noWait) return 0;
  if (wait === undefined) return undefined;
  return readWait('--wait', wait);
}

interface Warned {
  readonly warn: (message: string) => void;
}

/**
 * Throws `UsageError` if the pattern of `--force` matches no file, before anything is done. If not every file can
 * be seen, the check passes; the pass reports more.
 */
export async function demandForcedFile(options: SyncOptions, config: Config): Promise<void> {
  const { force } = options;
  // Without a pattern, `--force` covers all files, even none.
  if (force === undefined || force === '') return;
  const { isForced } = forced(options);
  const sources: Source[] = [];
  // The name of the platform has no effect on files.
  for (const found of findSources(config, '')) {
    if (found.kind === 'missing') return;
    if ((await lookFor(found.source, isForced)) !== 'none') return;
    sources.push(found.source);
  }
  throw new UsageError(
    `--force ${JSON.stringify(force)} matches no file, so nothing was sent; ${hintFor([force], sources)}`,
  );
}

/** Returns whether a source has a matching file; `unknown` if it has no files, or if not all could be seen. */
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
