import type { LoadedConfig } from '../../config/load-config.ts';
import { EXIT, worstOf } from '../../domain/exit-code.ts';
import { emptySummary, type Summary } from '../../domain/report.ts';
import { systemClock } from '../../service/system-clock.ts';
import { StateFileError } from '../../store/database.ts';
import { findAllSuspects } from '../../sync/daemon/due-dates.ts';
import type { PassResult } from '../api.ts';
import { ClusterRun } from '../cluster/cluster-run.ts';
import type { WorkedUnit } from '../cluster/held-unit.ts';
import { machineOf } from '../cluster/host-name.ts';
import { demandLedger, openCluster, type Cluster, type ClusterHost } from '../cluster/open-cluster.ts';
import type { OwnUnit } from '../cluster/own-units.ts';
import { openUnitHolding } from '../cluster/unit-holding.ts';
import { Visit } from '../cluster/visit.ts';
import { describeUnseen, hindranceStatus } from '../../words/halt.ts';
import { describeHindrance } from '../../words/cluster.ts';
import { platformName } from '../run-base.ts';
import { passOutcomeOf } from '../pass-outcome.ts';
import { SyncError } from '../sync-error.ts';
import { singlePass, type OnceRun, type PassEnd } from './single-pass.ts';

/**
 * Makes one pass over each unit that this host can take. Throws `SyncError`, with code `busy` if other hosts hold all
 * units.
 */
export async function passInCluster(run: OnceRun, loaded: LoadedConfig): Promise<PassResult> {
  const { cluster: config } = run.config;
  if (config === null) throw new Error('no cluster');
  const cluster = openCluster(loaded, config, run.env);
  try {
    return await new ClusterPass(run, cluster).run();
  } finally {
    await cluster.close();
  }
}

class ClusterPass {
  readonly #run: OnceRun;
  readonly #host: ClusterHost;
  readonly #visit = new Visit();
  readonly #clusterRun: ClusterRun;
  readonly #summaries: Summary[] = [];
  readonly #ends: PassEnd[] = [];
  /** When the passes began that saw all of their units, by unit number, epoch milliseconds. */
  readonly #settled = new Map<number, number>();
  /** A defect that a pass threw. */
  #failure: unknown = null;

  constructor(run: OnceRun, cluster: Cluster) {
    this.#run = run;
    this.#host = {
      ...{ cluster, clock: systemClock, log: run.log, config: () => run.config },
      platformName: (config) => platformName(run.target, config),
    };
    this.#clusterRun = new ClusterRun({
      ...{ ...this.#host, ...run.stop, visit: this.#visit },
      machine: machineOf(run.config.stateFile),
      work: (own, worked) => this.#overUnit(own, worked),
      settledUntilMs: ({ id }) => this.#settled.get(id) ?? null,
      isAtWork: () => false,
      carryOut: () => undefined,
      report: () => null,
      pauses: run.access,
    });
  }

  async run(): Promise<PassResult> {
    const { feed } = this.#run;
    const counts = sumOf(this.#summaries, systemClock.monotonic());
    feed.emit({ kind: 'call-began', counts });
    try {
      return await this.#pass(counts);
    } catch (error) {
      // Also report what earlier passes did, if anything.
      if (error instanceof SyncError && error.code === 'cluster')
        feed.emit({ kind: 'call-ended', summary: { ...counts }, isDryRun: false, isCutShort: true });
      throw error;
    }
  }

  async #pass(counts: Summary): Promise<PassResult> {
    const run = this.#run;
    await demandLedger(this.#host.cluster);
    await this.#clusterRun.run();
    if (this.#failure !== null) throw this.#failure as Error;
    const exitCodes = [...this.#ends.map(({ exitCode }) => exitCode), ...this.#leftOut()];
    const summary = { ...counts };
    const isInterrupted = run.stop.stop.aborted;
    const sawAll = !isInterrupted && this.#endedInOrder && this.#ends.every((end) => end.sawAll);
    run.feed.emit({ kind: 'call-ended', summary, isDryRun: false, isCutShort: !sawAll });
    const exitCode = worstOf(isInterrupted ? [EXIT.interrupted, ...exitCodes] : exitCodes);
    return { outcome: passOutcomeOf(exitCode), summary, sawAll };
  }

  /** True if the ledger has the same settings as this host for all sources. */
  get #isAgreed(): boolean {
    return this.#clusterRun.situation.hindrances.every(({ kind }) => kind !== 'differing');
  }

  /** True if no unit was released before its pass ended, or blocked. */
  get #endedInOrder(): boolean {
    const visited = [...this.#clusterRun.visited.values()];
    if (!this.#isAgreed) return false;
    return visited.every(
      (one) => one?.kind !== 'blocked' && (one?.kind !== 'ended' || one.end.kind === 'released'),
    );
  }

  /** Warns of what no pass covered and returns exit codes for it. Throws `SyncError` if that was everything. */
  #leftOut(): number[] {
    const { feed, stop } = this.#run;
    const { trouble } = this.#clusterRun.situation;
    const visited = [...this.#clusterRun.visited];
    if (trouble !== null && !stop.stop.aborted) throw new SyncError('cluster', { reason: trouble });
    const elsewhere = visited.flatMap(([name, one]) =>
      one?.kind === 'elsewhere' ? [`${name} is synced by ${one.host}`] : [],
    );
    const isAllElsewhere = elsewhere.length > 0 && elsewhere.length === visited.length;
    if (isAllElsewhere && this.#ends.length === 0 && this.#isAgreed)
      throw new SyncError('busy', {
        reason: elsewhere.join(', '),
        fix: 'there is nothing to do for this host',
      });
    const differing = this.#clusterRun.situation.hindrances.filter(({ kind }) => kind === 'differing');
    for (const one of differing)
      feed.warn(`this host ${describeHindrance(hindranceStatus(one))}, and left it out`);
    const left = visited.flatMap(([name, one]) => {
      switch (one?.kind) {
        case undefined:
          return [];
        case 'elsewhere':
          feed.warn(`${name} is synced by ${one.host}, so it was left out`);
          return [EXIT.incomplete];
        case 'unseen':
          feed.warn(`${name} was left to ${one.host}, which sees its files: ${this.#whyUnseen(name)}`);
          return [EXIT.incomplete];
        case 'blocked':
          return [EXIT.halted];
        case 'ended':
          return one.end.kind === 'released' ? [] : [EXIT.incomplete];
      }
    });
    return [...left, ...differing.map(() => EXIT.halted)];
  }

  #whyUnseen(unit: string): string {
    const { own, hindrances } = this.#clusterRun.situation;
    const id = own.find(({ name }) => name === unit)?.id;
    return hindrances
      .flatMap((one) => (one.kind === 'unseen' && one.unit === id ? [describeUnseen(one.halt)] : []))
      .join('; ');
  }

  /** A defect ends the pass over this unit, and is thrown after the passes over the others. */
  async #overUnit(own: OwnUnit, worked: WorkedUnit): Promise<void> {
    try {
      await this.#passOver(own, worked);
    } catch (error) {
      if (!(error instanceof StateFileError)) this.#failure ??= error;
      throw error;
    }
  }

  async #passOver(own: OwnUnit, worked: WorkedUnit): Promise<void> {
    const run = this.#run;
    const unit = await openUnitHolding(own, worked, {
      ...this.#host,
      clientsUnder: (fence) => run.access.clientsUnder(fence),
      othersSettledUntilMs: () => this.#clusterRun.othersSettledUntilMs(own),
    });
    const holding = {
      ...unit,
      stop: AbortSignal.any([unit.stop, run.stop.stop]),
      abort: AbortSignal.any([unit.abort, run.stop.abort]),
    };
    const notifier = run.notifierOf();
    const summary = this.#newSummary();
    const beganMs = systemClock.now();
    notifier?.attach(holding);
    // No daemon may be running that would find them.
    findAllSuspects({ state: holding.state, clock: systemClock });
    const options = { ...run.options, estimate: false };
    const end = await singlePass({ ...run, options }, holding, summary, notifier);
    this.#ends.push(end);
    await notifier?.tell();
    if (end.sawAll && summary.failed + summary.pending + summary.problems === 0)
      await this.#tellSettled(own, beganMs, unit.stop);
  }

  /** Waits until the ledger knows that the unit is settled: removals of other units of the target wait for that. */
  async #tellSettled({ id, target }: OwnUnit, beganMs: number, stop: AbortSignal): Promise<void> {
    this.#settled.set(id, beganMs);
    const { view } = this.#clusterRun.situation;
    if (view?.units.some((other) => other.id !== id && other.target === target) !== true) return;
    // A beat on its way may have been sent before.
    for (let beats = 0; beats < 2; beats += 1) {
      const next = this.#visit.nextBeat(stop);
      this.#clusterRun.hurry();
      await next;
    }
  }

  #newSummary(): Summary {
    const summary = emptySummary();
    this.#summaries.push(summary);
    return summary;
  }
}

/** Returns a live sum of several summaries. `beganMs`: milliseconds of the monotonic clock. */
function sumOf(summaries: readonly Summary[], beganMs: number): Summary {
  const sum = emptySummary();
  for (const name of Object.keys(sum) as (keyof Summary)[])
    Object.defineProperty(sum, name, {
      enumerable: true,
      get: () =>
        name === 'durationMs'
          ? Math.round(systemClock.monotonic() - beganMs)
          : summaries.reduce((total, one) => total + one[name], 0),
    });
  return sum;
}
