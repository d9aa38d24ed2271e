import { DatabaseError } from '../../cluster/database.ts';
import type { Config } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { EXIT, worstOf } from '../../domain/exit-code.ts';
import { emptySummary, type Summary } from '../../domain/report.ts';
import type { PlatformGate } from '../../platform/platform-gate.ts';
import { systemClock } from '../../service/system-clock.ts';
import { StateFileError } from '../../state/database.ts';
import { findAllSuspects } from '../../sync/pass/suspects.ts';
import type { PassResult } from '../api.ts';
import { ClusterRun } from '../cluster/cluster-run.ts';
import { NOBODY_FOLLOWS } from '../cluster/cluster-situation.ts';
import type { WorkedUnit } from '../cluster/held-unit.ts';
import { HostBudget } from '../cluster/host-budget.ts';
import { conversationsOnRecord } from '../cluster/told-before.ts';
import { machineOf } from '../cluster/machine.ts';
import { demandLedger, openCluster, type Cluster } from '../cluster/open-cluster.ts';
import type { OwnUnit } from '../cluster/own-units.ts';
import { Visit } from '../cluster/visit.ts';
import { platformName } from '../load.ts';
import { exitCodeOf, passOutcomeOf } from '../pass-outcome.ts';
import type { PlatformAccess } from '../platform/platform-access.ts';
import { SyncError } from '../sync-error.ts';
import { version } from '../version.ts';
import type { NewNotifier } from './once-notifier.ts';
import { SharedConversations } from './shared-conversations.ts';
import { singlePass, type PassEnd } from './single-pass.ts';
import { passWithSoundState, type OnceRun } from './sound-pass.ts';

/** What a pass over what is to be had in a cluster is made with. */
export interface ClusterPassInput {
  readonly run: OnceRun;
  readonly loaded: LoadedConfig;
  readonly access: PlatformAccess;
  /** What all requests to the platform pass. */
  readonly gate: PlatformGate;
  readonly notifier: NewNotifier;
  /** The last user of this host's state file did not close it. */
  readonly wasAbandoned: boolean;
}

/**
 * Makes one pass over each unit that is to be had, and over the sources that are this host's alone. Throws `SyncError`, `busy` where
 * other hosts have everything.
 */
export async function passInCluster(input: ClusterPassInput): Promise<PassResult> {
  const { run, loaded } = input;
  const { cluster: config } = run.config;
  if (config === null) throw new Error('no cluster');
  const cluster = openCluster(loaded, config, run.env);
  try {
    return await new ClusterPass(input, cluster).run();
  } finally {
    await cluster.close();
  }
}

class ClusterPass {
  readonly #input: ClusterPassInput;
  readonly #cluster: Cluster;
  readonly #visit = new Visit();
  readonly #conversations = new SharedConversations(() => this.#knownConversations());
  readonly #clusterRun: ClusterRun;
  readonly #summaries: Summary[] = [];
  readonly #ends: PassEnd[] = [];
  /** When passes began that saw all of their units, by the numbers of these, epoch milliseconds. */
  readonly #settled = new Map<number, number>();
  /** Aborts when this host has left. */
  readonly #left = new AbortController();
  /** What a pass threw that nothing expected, or the one over the sources of this host alone. */
  #failure: unknown = null;

  constructor(input: ClusterPassInput, cluster: Cluster) {
    const { run } = input;
    this.#input = input;
    this.#cluster = cluster;
    this.#clusterRun = new ClusterRun({
      ...{ cluster, clock: systemClock, version: version(), visit: this.#visit },
      ...run.stop,
      stateFile: run.config.stateFile,
      log: run.log,
      machine: machineOf(run.config.stateFile),
      config: () => run.config,
      platformName: (config) => platformName(run.target, config),
      work: (own, worked) => this.#overUnit(own, worked),
      settledUntilMs: ({ id }) => this.#settled.get(id) ?? null,
      isQuiet: () => false,
      isAtWork: () => false,
      wished: () => undefined,
      announce: () => undefined,
      report: () => null,
      observer: NOBODY_FOLLOWS,
    });
    this.#visit.waitFor(this.#overOwnSources());
  }

  async run(): Promise<PassResult> {
    const { feed } = this.#input.run;
    const counts = sumOf(this.#summaries, systemClock.monotonic());
    feed.begin(counts);
    try {
      return await this.#pass(counts);
    } catch (error) {
      // What was done before, if anything, is said all the same.
      if (error instanceof SyncError && error.code === 'cluster') feed.end({ ...counts }, false, true);
      throw error;
    }
  }

  async #pass(counts: Summary): Promise<PassResult> {
    const { run, gate } = this.#input;
    const budget = new HostBudget({ cluster: this.#cluster, config: () => run.config, gate });
    try {
      await demandLedger(this.#cluster);
      await budget.during(() => this.#clusterRun.run());
    } finally {
      this.#left.abort();
      await this.#visit.also;
    }
    if (this.#failure !== null) throw this.#failure as Error;
    const exitCodes = [...this.#ends.map(({ exitCode }) => exitCode), ...this.#leftOut()];
    const summary = { ...counts };
    const isInterrupted = run.stop.stop.aborted;
    const sawAll = !isInterrupted && this.#endedInOrder && this.#ends.every((end) => end.sawAll);
    run.feed.end(summary, false, !sawAll);
    const exitCode = worstOf(isInterrupted ? [EXIT.interrupted, ...exitCodes] : exitCodes);
    return { outcome: passOutcomeOf(exitCode), summary, sawAll };
  }

  /** Whether no unit was let go of before its pass was over, nor kept from being taken. */
  get #endedInOrder(): boolean {
    const visited = [...this.#clusterRun.visited.values()];
    return visited.every(
      (one) => one?.kind !== 'blocked' && (one?.kind !== 'ended' || one.end.kind === 'released'),
    );
  }

  /** What was not passed over, as exit codes; people are told. Throws `SyncError` where that was everything. */
  #leftOut(): number[] {
    const { feed, stop } = this.#input.run;
    const { trouble } = this.#clusterRun.situation;
    const visited = [...this.#clusterRun.visited];
    if (trouble !== null && !stop.stop.aborted) throw new SyncError('cluster', { reason: trouble });
    const elsewhere = visited.flatMap(([name, one]) =>
      one?.kind === 'elsewhere' ? [`${name} is synced by ${one.host}`] : [],
    );
    if (elsewhere.length > 0 && this.#ends.length === 0 && elsewhere.length === visited.length)
      throw new SyncError('busy', {
        reason: elsewhere.join(', '),
        fix: 'there is nothing to do for this host',
      });
    return visited.flatMap(([name, one]) => {
      switch (one?.kind) {
        case undefined:
        case 'unwanted':
          return [];
        case 'elsewhere':
          feed.warn(`${name} is synced by ${one.host}, so it was left out`);
          return [EXIT.incomplete];
        case 'unseen':
          feed.warn(`${name} was left out: its directories are missing on this host`);
          return [EXIT.incomplete];
        case 'blocked':
          return [EXIT.halted];
        case 'ended':
          return one.end.kind === 'released' ? [] : [EXIT.incomplete];
      }
    });
  }

  /** A defect ends the pass over this unit, and is thrown once the others are passed over. */
  async #overUnit(own: OwnUnit, worked: WorkedUnit): Promise<void> {
    try {
      await this.#passOver(own, worked);
    } catch (error) {
      if (!(error instanceof StateFileError)) this.#failure ??= error;
      throw error;
    }
  }

  async #passOver(own: OwnUnit, { state, lease, stop, abort }: WorkedUnit): Promise<void> {
    const { run, access } = this.#input;
    const clients = access.clientsUnder(lease);
    const notifier = this.#input.notifier(this.#conversations);
    const summary = this.#newSummary();
    const platform = clients.files();
    const changeFeed = { seenUntilMs: () => this.#clusterRun.othersSettledUntilMs(own) };
    const beganMs = systemClock.now();
    notifier?.attach(state, () => platform.now());
    // There may be no daemon whose turn it is.
    findAllSuspects({ state, clock: systemClock });
    const end = await singlePass(
      {
        ...{ ...run, platform, notifier, changeFeed, options: { ...run.options, estimate: false } },
        config: only(run.config, own.sources),
        catalog: clients.catalog(),
        stop: {
          stop: AbortSignal.any([stop, run.stop.stop]),
          abort: AbortSignal.any([abort, run.stop.abort]),
        },
      },
      state,
      summary,
    );
    this.#ends.push(end);
    await notifier?.tell();
    if (end.sawAll && summary.failed + summary.pending + summary.problems === 0)
      await this.#tellSettled(own, beganMs, stop);
  }

  /** Removals of the others of its target wait until the ledger knows. */
  async #tellSettled({ id, target }: OwnUnit, beganMs: number, stop: AbortSignal): Promise<void> {
    this.#settled.set(id, beganMs);
    const { view } = this.#clusterRun.situation;
    if (view?.units.some((other) => other.id !== id && other.target === target) !== true) return;
    // The beat that is on its way may have left before.
    for (let beats = 0; beats < 2; beats += 1) {
      const next = this.#visit.nextBeat(stop);
      this.#clusterRun.hurry();
      await next;
    }
  }

  /** Never rejects. */
  async #overOwnSources(): Promise<void> {
    const { run, wasAbandoned, notifier } = this.#input;
    const { signal } = this.#left;
    // Only then it is known what is in their way.
    await this.#visit.nextBeat(signal);
    if (signal.aborted) return;
    const { pinned } = this.#clusterRun.situation;
    const sources = pinned.flatMap((own) => own.sources);
    if (sources.length === 0) return;
    const frame = { begin: () => this.#newSummary(), end: () => undefined };
    try {
      const config = only(run.config, sources);
      const beganMs = systemClock.now();
      const { outcome, sawAll } = await passWithSoundState(
        { ...run, config, frame, notifier: notifier(this.#conversations) },
        wasAbandoned,
      );
      this.#ends.push({ exitCode: exitCodeOf(outcome), sawAll });
      if (sawAll && outcome === 'in-sync')
        await Promise.all(pinned.map((own) => this.#tellSettled(own, beganMs, signal)));
    } catch (error) {
      this.#failure = error;
    }
  }

  /** Without them another conversation is created: that is no reason to tell people nothing. */
  async #knownConversations(): ReturnType<typeof conversationsOnRecord> {
    const { database, config } = this.#cluster;
    try {
      return await conversationsOnRecord(database.sql, config.schema);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      return new Map();
    }
  }

  #newSummary(): Summary {
    const summary = emptySummary();
    this.#summaries.push(summary);
    return summary;
  }
}

function only(config: Config, sources: readonly { readonly name: string }[]): Config {
  const names = new Set(sources.map(({ name }) => name));
  return { ...config, sources: config.sources.filter(({ name }) => names.has(name)) };
}

/** What passes side by side have done by now, whenever it is read. `beganMs`: of the monotonic clock. */
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
