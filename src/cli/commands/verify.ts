import { renderProblem } from '../../config/problem.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { PruneResult } from '../../run/api.ts';
import { openSyncFor } from '../../run/open-sync.ts';
import { SyncError } from '../../run/sync-error.ts';
import { keepHeapSmall } from '../../service/heap.ts';
import { listenForStop } from '../signals.ts';
import { exitCodeOf } from '../../run/pass-outcome.ts';
import { print, shown } from '../render/output.ts';
import { VerifyView, type VerifyOptions } from '../render/verify-view.ts';

/** `botsync verify`. Returns the exit code; throws `SyncError`. */
export async function verify(options: VerifyOptions): Promise<number> {
  keepHeapSmall();
  const { config, emulator, content, repair, prune, allowRemovals, json } = options;
  const view = new VerifyView(options);
  const sync = openSyncFor({ config, emulator, log: view.log }, [view.listener, view.comparison]);
  for (const warning of sync.warnings) view.warn(renderProblem(warning));
  const signals = listenForStop(view);
  try {
    const what = { content, repair, prune, allowRemovals, estimate: view.showsProgress };
    const { outcome, pruned } = await sync.verify({ ...what, signal: signals.stop });
    if (pruned !== null && !json) printPruned(pruned);
    return exitCodeOf(outcome);
  } catch (error) {
    if (error instanceof SyncError && error.code === 'interrupted') return EXIT.interrupted;
    throw error;
  } finally {
    view.stop();
    signals.release();
  }
}

function printPruned({ removed, left, halts }: PruneResult): void {
  for (const { source, reason } of halts) print(`${shown(source)} is halted: ${shown(reason)}`);
  print(`Pruned: ${removed} ${removed === 1 ? 'orphan' : 'orphans'} removed, ${left} left`);
}
