import { systemClock } from '../service/system-clock.ts';
import { Claims } from '../sync/plan/claims.ts';
import { estimate, type Estimate } from '../sync/plan/estimate.ts';
import { findSources } from '../sync/sources/source.ts';
import type { Holding } from './holding.ts';
import { platformName, type RunBase } from './run-base.ts';

/** Returns what a pass that begins now will send; `null` if `ended` aborts first. Throws `StateFileError`. */
export async function countAhead(
  { target, feed }: Pick<RunBase, 'target' | 'feed'>,
  { state, clients, ...holding }: Pick<Holding, 'state' | 'config' | 'clients'>,
  isForced: (path: string) => boolean,
  ended: AbortSignal,
): Promise<Estimate | null> {
  const config = holding.config();
  const sources = findSources(config, platformName(target, config));
  const platformNow = (): number => clients().files().now();
  const input = { config, sources, state, claims: new Claims(state, sources), platformNow, isForced };
  return await estimate({ ...input, now: systemClock.now }, systemClock, ended, (files) => {
    feed.emit({ kind: 'counting', files });
  });
}

/** Runs a daemon over a holding, and reports at its start how much its first pass has to send. */
export async function runCounting(
  base: Pick<RunBase, 'target' | 'feed'>,
  holding: Holding,
  run: () => Promise<void>,
): Promise<void> {
  const ended = new AbortController();
  const counting = countAhead(base, holding, () => false, AbortSignal.any([ended.signal, holding.stop])).then(
    (ahead) => {
      if (ahead !== null && !ended.signal.aborted)
        base.feed.emit({ kind: 'expected', files: ahead.files, bytes: ahead.bytes });
    },
    // The daemon meets and reports the same error.
    () => undefined,
  );
  try {
    await run();
  } finally {
    ended.abort();
    await counting;
  }
}
