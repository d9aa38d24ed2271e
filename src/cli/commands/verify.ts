import { renderProblem } from '../../config/problem.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { PruneResult } from '../../run/api.ts';
import { openSyncFor } from '../../run/open-sync.ts';
import { SyncError } from '../../run/sync-error.ts';
import { keepHeapSmall } from '../../service/heap.ts';
import { withStopSignals } from '../signals.ts';
import { exitCodeOf } from '../../run/pass-outcome.ts';
import { print, shown, printJson } from '../render/output.ts';
import type { DifferenceReason, Verified } from '../../domain/status.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import { placeOf } from '../../words/place.ts';
import { describeVerified, DIFFERENCE_WORDS } from '../../words/verified.ts';
import { listener } from '../../sync/events.ts';
import type { GlobalOptions } from '../global-options.ts';
import { PassView } from '../render/pass-view.ts';
import { renderTable } from '../render/text-layout.ts';

/** `botsync verify`. Returns the exit code; throws `SyncError`. */
export async function verify(options: VerifyOptions): Promise<number> {
  keepHeapSmall();
  const { config, emulator, content, repair, prune, allowRemovals, json } = options;
  const view = new VerifyView(options);
  const sync = openSyncFor({ config, emulator, log: view.log }, [view.listener, view.comparison]);
  for (const warning of sync.warnings) view.log.warn(renderProblem(warning));
  return await withStopSignals(view, async ({ stop }) => {
    try {
      const what = { content, repair, prune, allowRemovals, estimate: view.showsProgress };
      const { outcome, pruned } = await sync.verify({ ...what, signal: stop });
      if (pruned !== null && !json) printPruned(pruned);
      return exitCodeOf(outcome);
    } catch (error) {
      if (error instanceof SyncError && error.code === 'interrupted') return EXIT.interrupted;
      throw error;
    }
  });
}

function printPruned({ removed, left, halts }: PruneResult): void {
  for (const { source, reason } of halts) print(`${shown(source)} is halted: ${shown(reason)}`);
  print(`Pruned: ${removed} ${removed === 1 ? 'orphan' : 'orphans'} removed, ${left} left`);
}

export interface VerifyOptions extends GlobalOptions {
  /** Also compare contents. */
  readonly content: boolean;
  /** Repair files that were sent by botsync. */
  readonly repair: boolean;
  /** Remove orphans. */
  readonly prune: boolean;
  readonly allowRemovals: boolean;
}

/** Further files of the same reason are only counted. */
const NAMED_A_REASON = 20;

/** The output of a comparison, and of the pass that repairs what it found. */
class VerifyView extends PassView {
  readonly #isJson: boolean;
  readonly #named = new Map<DifferenceReason, FileDifference[]>();

  constructor(options: GlobalOptions) {
    super(options);
    this.#isJson = options.json;
  }

  /** Prints the results of a comparison. */
  readonly comparison = listener({
    difference: ({ difference }) => {
      const { key, source, path, reason, detail } = difference;
      if (this.#isJson) {
        printJson({ kind: 'verify', source, path, key, reason, detail });
        return;
      }
      const named = this.#named.get(reason) ?? [];
      this.#named.set(reason, named);
      if (named.length < NAMED_A_REASON) named.push(difference);
    },
    verified: ({ verified }) => {
      if (this.#isJson) printJson({ kind: 'verification', ...verified });
      else print([...this.#table(verified), describeVerified(verified)].join('\n'));
    },
  });

  #table({ reasons }: Verified): string[] {
    const rows = [...this.#named].flatMap(([reason, files]) => {
      const named = files.map(({ source, path, key, detail }) => [
        DIFFERENCE_WORDS[reason],
        placeOf(source, path ?? key),
        detail,
      ]);
      const more = (reasons[reason] ?? 0) - files.length;
      return more > 0
        ? [...named, [DIFFERENCE_WORDS[reason], `… and ${more} more`, '--json lists them all']]
        : named;
    });
    return rows.length === 0 ? [] : [...renderTable(['Reason', 'File', 'Found'], rows), ''];
  }
}
