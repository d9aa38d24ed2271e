import { renderProblem } from '../../config/problem.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { PruneResult } from '../../library/api.ts';
import { openSync } from '../../library/open-sync.ts';
import { SyncError } from '../../library/sync-error.ts';
import { keepHeapSmall } from '../../service/heap.ts';
import { listenForStop } from '../stop-listener.ts';
import { exitCodeOf } from '../../library/pass-outcome.ts';
import { print, shown } from '../render/output.ts';
import { VerifyView } from '../render/verify-view.ts';
import type { VerifyOptions } from '../verify-options.ts';

/** `botsync verify`: what the bots have, compared with what was sent. Returns the exit code; throws `SyncError`. */
export async function verify(options: VerifyOptions): Promise<number> {
  keepHeapSmall();
  const { config, emulator, content, repair, prune, allowRemovals, json } = options;
  const view = new VerifyView(options);
  const sync = openSync({ config, emulator, log: view.log, observer: view });
  for (const warning of sync.warnings) view.warn(renderProblem(warning));
  const signals = listenForStop({
    stopping: (signal) => {
      view.stopping(signal);
    },
    endingNow: () => {
      view.endNow();
    },
  });
  try {
    const what = { content, repair, prune, allowRemovals, estimate: view.showsProgress };
    const { outcome, pruned } = await sync.verify({ ...what, signal: signals.stop });
    if (pruned !== null && !json) tellPruned(pruned);
    return exitCodeOf(outcome);
  } catch (error) {
    if (error instanceof SyncError && error.code === 'interrupted') return EXIT.interrupted;
    throw error;
  } finally {
    view.stop();
    signals.release();
  }
}

function tellPruned({ removed, left, halts }: PruneResult): void {
  for (const { source, reason } of halts) print(`${shown(source)}: ${shown(reason)}`);
  print(`Pruned: ${removed} ${removed === 1 ? 'orphan' : 'orphans'} removed, ${left} left`);
}
