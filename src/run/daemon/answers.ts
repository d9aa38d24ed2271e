import type { DaemonState } from './daemon-state.ts';
import type { Config } from '../../config/config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { Log } from '../../service/logger.ts';
import type { Metrics, SourceMeasures } from '../../service/metrics.ts';
import { findHolder } from '../../service/process-lock.ts';
import type { ControlPorts } from '../../service/status-routes.ts';
import type { StateStore } from '../../store/state-store.ts';
import { clusterTroubles, standingOf, withRetries } from '../../sync/plan/standing.ts';
import type { ClusterFacts } from '../../domain/cluster-status.ts';
import { mergeOverviews, overview } from '../../sync/plan/overview.ts';
import type { Overview, SourceStatus, Known, Running, Standing } from '../../domain/status.ts';
import { describeBrokenConfiguration } from '../../words/service.ts';
import { describeClusterTrouble } from '../../words/cluster.ts';
import { type RunTarget, platformName } from '../run-base.ts';
import { clusterFacts, isSyncedHere, sourcesElsewhere } from './cluster-facts.ts';
import { approveAnywhere, pruneAnywhere, rescanAnywhere } from './ask-hosts.ts';
import type { RunningDaemon } from './daemons.ts';
import { measure } from './daemon-measures.ts';

/** Minimum time for which an overview is reused, milliseconds. */
const OVERVIEW_MS = 200;

/** An overview is reused for this many times the time it took, so that requests cannot take up the daemon. */
const OVERVIEW_REST = 20;

/** Time for which an overview is reused if nothing was written, milliseconds: time alone changes little. */
const UNCHANGED_MS = 60_000;

/** The overview while the state file is not open. */
const NOTHING_KNOWN: Overview = {
  sources: [],
  failures: [],
  lastPass: null,
  sinceLastPass: null,
  lastVerification: null,
  pause: null,
};

const NO_PAUSE_IN_CLUSTER =
  'a cluster cannot be paused: another host would go on; to hold everything back, stop the service on all hosts';

/** Answers requests about the state of a daemon. */
export class DaemonAnswers {
  readonly #options: RunTarget;
  readonly #monotonic: () => number;
  readonly #daemonState: () => DaemonState;
  #seen: readonly SeenOverview[] = [];

  /** @param monotonic - milliseconds that never go back. */
  constructor(options: RunTarget, monotonic: () => number, daemonState: () => DaemonState) {
    this.#options = options;
    this.#monotonic = monotonic;
    this.#daemonState = daemonState;
  }

  /** Creates the answers for the socket and the status port. */
  ports(metrics: Metrics, log: Log): ControlPorts {
    return {
      readiness: () => {
        const reasons = this.impediments;
        return { ready: reasons.length === 0, reasons };
      },
      metrics: () => metrics.render(),
      status: async () => {
        await this.#daemonState().cluster?.look();
        return this.status();
      },
      approve: async (source, halt) => {
        const { trouble, ...asked } = this.#daemonState();
        return { ...(await approveAnywhere(asked, source, halt)), trouble };
      },
      rescan: async (source, path) => {
        const { trouble, ...asked } = this.#daemonState();
        return { rescan: await rescanAnywhere(asked, source, path), trouble };
      },
      prune: async (source, glob, digest) => {
        const { trouble, ...asked } = this.#daemonState();
        return { prune: await pruneAnywhere(asked, { source, glob, digest }), trouble };
      },
      pause: async (forMs) => {
        const { trouble, daemon, cluster } = this.#daemonState();
        if (cluster !== null) return { pause: null, trouble: NO_PAUSE_IN_CLUSTER };
        const pause = await daemon?.pause(forMs === null ? null : Date.now() + forMs);
        return { pause: pause ?? null, trouble };
      },
      resume: async () => {
        const { trouble, daemon, cluster } = this.#daemonState();
        if (cluster !== null) return { resumed: null, trouble: NO_PAUSE_IN_CLUSTER };
        return { resumed: (await daemon?.resume()) ?? null, trouble };
      },
      reload: () => this.#daemonState().reload(),
      failed: (error) => {
        log.error('an HTTP request could not be answered', { reason: (error as Error).message });
      },
    };
  }

  /** Reasons why the daemon is not ready; empty if it is. */
  get impediments(): string[] {
    const { trouble, daemon, configuration } = this.#daemonState();
    if (trouble !== null) return [trouble];
    const { problem, loadedAt } = configuration;
    const ofConfiguration = problem === null ? [] : [describeBrokenConfiguration(problem, loadedAt)];
    const cluster = this.#clusterFacts();
    const inTheWay = cluster === null ? [] : clusterTroubles(cluster, []);
    const ofCluster = inTheWay.map(describeClusterTrouble);
    const isStarting = daemon === null || (ofCluster.length === 0 && this.#isStarting(cluster));
    return [
      ...ofConfiguration,
      ...ofCluster,
      ...(daemon?.impediments ?? []),
      ...(isStarting ? ['starting'] : []),
    ];
  }

  /** Returns what `botsync status --json` prints. Throws `StateFileError`. */
  status(): unknown {
    const { loaded } = this.#daemonState();
    const { known, running, standing } = this.facts();
    return {
      ...known,
      inSync: standing.exitCode === EXIT.ok,
      daemon: { ...findHolder(loaded.config.stateFile), ...running, notReady: this.impediments },
    };
  }

  /** Throws `StateFileError`. */
  facts(): { readonly known: Known; readonly running: Running; readonly standing: Standing } {
    const { daemon, trouble, cluster: port, loaded, service, configuration } = this.#daemonState();
    const cluster = this.#clusterFacts();
    const starting = this.#isStarting(cluster) && { activity: 'starting' as const, isFirstPassOver: false };
    const running: Running = {
      ...(daemon?.activity ?? { isFirstPassOver: false }),
      ...starting,
      trouble,
      configuration,
    };
    const seen = this.#overview() ?? NOTHING_KNOWN;
    if (cluster === null || port === null) {
      const known = withRetries(seen, running, service);
      return { known, running, standing: standingOf(known, running) };
    }
    const elsewhere = sourcesElsewhere(loaded.config, cluster, port.reports);
    const sources = [...seen.sources, ...elsewhere];
    const known = { ...withRetries({ ...seen, sources }, running, service), cluster };
    return { known, running, standing: standingOf(known, running) };
  }

  /** Returns the sources of this host for its report to other hosts; `null`: unknown. */
  sources(): readonly SourceStatus[] | null {
    return this.#overview()?.sources ?? null;
  }

  #clusterFacts(): ClusterFacts | null {
    const { cluster } = this.#daemonState();
    return cluster && clusterFacts(cluster);
  }

  /** Returns whether this host of a cluster has something to sync on which no daemon works yet. */
  #isStarting(cluster: ClusterFacts | null): boolean {
    if (cluster === null) return false;
    const { running, loaded, cluster: port } = this.#daemonState();
    if (port?.situation.view === null && cluster.trouble === null) return true;
    const worked = new Set(running.flatMap(({ config }) => config.sources.map(({ name }) => name)));
    return loaded.config.sources.some((source) => isSyncedHere(cluster, source) && !worked.has(source.name));
  }

  /** Time for which the current overview will be reused, milliseconds. */
  get staleForMs(): number {
    return Math.max(0, ...this.#seen.map(({ untilMs }) => untilMs - this.#monotonic()));
  }

  /** Returns the values of the metrics by source. Throws `StateFileError`. */
  measures(): SourceMeasures[] {
    const { daemon, lastSuccessMs } = this.#daemonState();
    const seen = this.#overview();
    return seen === null ? [] : measure(seen, daemon?.watchedDirectories ?? new Map(), lastSuccessMs);
  }

  /** An overview reads every row, so it is reused as long as it may be true. */
  #overview(): Overview | null {
    const { state, running, loaded, cluster } = this.#daemonState();
    if (state === null) return null;
    // Without a daemon of its own, or with none yet, this host answers from its state file.
    const all = running.length > 0 || cluster !== null ? running : [{ state, config: loaded.config }];
    this.#seen = all.map((one) => this.#look(one));
    return mergeOverviews(this.#seen.map((seen) => seen.overview));
  }

  #look({ state, config }: Pick<RunningDaemon, 'state' | 'config'>): SeenOverview {
    const nowMs = this.#monotonic();
    const seen = this.#seen.find((one) => one.state === state && one.config === config);
    if (seen !== undefined) {
      const isUnchanged = nowMs < seen.atMs + UNCHANGED_MS && state.changes() === seen.changes;
      if (nowMs < seen.untilMs || isUnchanged) return seen;
    }
    const changes = state.changes();
    const fresh = overview(state, config, platformName(this.#options, config), Date.now());
    const restMs = Math.max(OVERVIEW_MS, (this.#monotonic() - nowMs) * OVERVIEW_REST);
    return { state, config, changes, overview: fresh, atMs: nowMs, untilMs: nowMs + restMs };
  }
}

/** An overview and what it was made from. Milliseconds of the monotonic clock. */
interface SeenOverview {
  readonly state: StateStore;
  readonly config: Config;
  /** See `StateReader.changes`. */
  readonly changes: number;
  readonly overview: Overview;
  readonly atMs: number;
  /** Until then the overview is reused, even after changes. */
  readonly untilMs: number;
}
