import { resolve } from 'node:path';
import type { LoadedConfig } from '../../config/load-config.ts';
import { renderProblem } from '../../config/problem.ts';
import { createMetrics, type Metrics } from '../../service/metrics.ts';
import { PageSite } from '../../service/page-site.ts';
import { NOBODY_LISTENS, type ServiceManager } from '../../service/systemd-notify.ts';
import { systemClock } from '../../service/system-clock.ts';
import { together } from '../../sync/pass/workers.ts';
import type { Approval, ServiceState } from '../../domain/status.ts';
import { contentKeyOf } from '../../files/watched-files.ts';
import type { DaemonOptions, ReloadOutcome } from '../api.ts';
import { HistoryRecorder } from '../history-recorder.ts';
import { load, platformName, approveCommand, type RunBase } from '../run-base.ts';
import type { Stop } from '../stop.ts';
import type { PlatformAccess } from '../platform/platform-access.ts';
import { version } from '../version.ts';
import { type DaemonState, observedDaemon } from './daemon-state.ts';
import { DaemonAnswers } from './answers.ts';
import type { ClusterPart } from './cluster-part.ts';
import { Reloads } from './reloads.ts';
import { Daemons } from './daemons.ts';
import { DaemonPlatform } from './daemon-platform.ts';
import { DaemonPage, pageControl } from './page/daemon-page.ts';
import { HangGuard, Watchdog, DaemonVitals } from './watchdog.ts';
import { OwnDaemon } from './own-daemon.ts';
import { DaemonServers } from './servers.ts';
import { DaemonNotifier } from './daemon-notifier.ts';
import { DaemonMeasures } from './daemon-measures.ts';

/** Runs a daemon until a stop. Calls `up` once it works. Throws `SyncError`. */
export async function runDaemon(
  base: RunBase,
  options: DaemonOptions,
  stop: Stop,
  up: (run: DaemonRun) => void,
): Promise<void> {
  // Read the key before the file, so that a change from now on is noticed.
  const content = await contentKeyOf(resolve(base.target.config));
  const loaded = load(base.target);
  const metrics = await createMetrics(version(), () => run.answers.measures());
  const run: DaemonRun = new DaemonRun({ ...base, ...options, stop, content, metrics }, loaded);
  try {
    await run.begin();
    up(run);
    await run.untilStopped();
  } finally {
    await run.end();
  }
}

interface DaemonInput extends RunBase, Omit<DaemonOptions, 'signal'> {
  readonly stop: Stop;
  /** Content of the configuration file before it was read, see `contentKeyOf`. */
  readonly content: string;
  readonly metrics: Metrics;
}

/** A daemon with everything around it: servers, service manager, watched configuration. */
export class DaemonRun {
  readonly #base: RunBase;
  readonly #metrics: Metrics;
  readonly #measures: DaemonMeasures;
  readonly #history = new HistoryRecorder(systemClock.now);
  readonly #serviceManager: ServiceManager;
  readonly #own: OwnDaemon;
  readonly #stop: Stop;
  readonly #vitals: DaemonVitals;
  readonly answers: DaemonAnswers;
  readonly #page: DaemonPage;
  readonly #site: PageSite;
  readonly #servers: DaemonServers;
  readonly #notifier: DaemonNotifier;
  readonly #daemons: Daemons;
  readonly #platform: DaemonPlatform;
  readonly #reloads: Reloads;
  /** `null`: hangs are ignored. */
  readonly #hangGuard: HangGuard | null;
  readonly #onStop = (): void => {
    this.#serviceManager.stopping();
    this.#platform.current?.endWaits();
  };
  readonly #daemonState = (): DaemonState => ({
    service: this.#service,
    configuration: this.#reloads.configuration,
    loaded: this.#loaded,
    daemon: this.#daemons.running.length > 0 || this.#cluster !== null ? this.#daemons : null,
    running: this.#daemons.running,
    cluster: this.#cluster,
    state: this.#own.state,
    trouble: this.#own.trouble,
    lastSuccessMs: this.#measures.lastSuccessMs,
    reload: () => this.reload(),
  });
  #service: ServiceState = { kind: 'running' };
  #watchdog: Watchdog | null = null;
  #loaded: LoadedConfig;
  /** `null`: this host works alone. */
  #cluster: ClusterPart | null = null;
  /** Ends everything when a part of it fails. */
  readonly #failed = new AbortController();

  constructor(input: DaemonInput, loaded: LoadedConfig) {
    const { target, env, stop, content, metrics, serviceManager = NOBODY_LISTENS } = input;
    this.#loaded = loaded;
    this.#metrics = metrics;
    this.#stop = {
      stop: AbortSignal.any([stop.stop, this.#failed.signal]),
      abort: AbortSignal.any([stop.abort, this.#failed.signal]),
    };
    this.#serviceManager = serviceManager;
    this.#measures = new DaemonMeasures(serviceManager, metrics, () => {
      this.#notifier.wake();
    });
    this.answers = new DaemonAnswers(target, systemClock.monotonic, this.#daemonState);
    const platform = (): PlatformAccess | null => this.#platform.current;
    this.#page = new DaemonPage({ target, answers: this.answers, daemonState: this.#daemonState, platform });
    const listeners = [this.#measures.listener, this.#history.listener, this.#page.listener];
    const feed = input.feed.also(...listeners);
    const log = this.#page.logBeside(input.log);
    this.#base = { target, env, log, feed };
    this.#site = new PageSite(this.#page, pageControl(this.#daemonState, log), systemClock);
    this.#servers = new DaemonServers(this.answers.ports(metrics, log), this.#site, log, input.listening);
    this.#platform = new DaemonPlatform(this.#base, this.#history.answered);
    this.#notifier = new DaemonNotifier({
      log,
      configurationProblem: () => this.#reloads.configuration.problem,
      platformNow: this.#platform.now,
      ended: (outcome) => {
        metrics.notificationEnded(outcome);
      },
    });
    this.#hangGuard = input.endWhenHung === true ? new HangGuard(log) : null;
    this.#reloads = new Reloads({
      ...{ target, env, log, serviceManager, content },
      isReady: () => this.#measures.isReady,
      loaded: () => this.#loaded,
      take: (next) => this.#take(next),
      ended: (isLoaded) => {
        metrics.configurationRead(isLoaded);
        this.#notifier.wake();
      },
    });
    this.#stop.stop.addEventListener('abort', this.#onStop);
    this.#vitals = new DaemonVitals({
      monotonic: systemClock.monotonic,
      pausedForMs: () => this.#platform.pausedForMs(),
      activity: () => this.#daemonState().daemon?.activity ?? null,
      uploadSettings: () => this.#loaded.config.upload,
    });
    this.#daemons = new Daemons({
      emit: feed.emit,
      stages: this.#vitals.stages,
      howToApprove: input.howToApprove ?? approveCommand(target),
      platformName: (config) => platformName(target, config),
      notifier: this.#notifier,
      requests: {
        stage: this.#vitals.transfers,
        requestEnded: (operation, outcome, seconds) => {
          metrics.requestEnded(operation, outcome, seconds);
        },
        monotonic: systemClock.monotonic,
      },
    });
    this.#own = new OwnDaemon({
      ...{ ...this.#base, stop: this.#stop, metrics, platform: this.#platform },
      ...{ history: this.#history, daemons: this.#daemons, estimates: input.estimate === true },
      loaded: () => this.#loaded,
      isInCluster: () => this.#cluster !== null,
      moved: async () => {
        await this.#servers.close();
        await this.#servers.adjust(this.#loaded.config);
      },
    });
  }

  /** Opens everything that lasts for the whole run. Throws `SyncError`. */
  async begin(): Promise<void> {
    const { log, feed } = this.#base;
    const pausedForMs = (): number => this.#platform.pausedForMs();
    this.#own.lock();
    feed.emit({ kind: 'started', daemon: observedDaemon(this.#daemonState, pausedForMs) });
    await this.#hangGuard?.adjust(this.#loaded.config);
    await this.#reloads.follow();
    const { access, notifier } = await this.#platform.open(this.#loaded);
    this.#platform.take(access);
    await this.#notifier.adopt(notifier);
    this.#cluster = await this.#joinCluster();
    for (const warning of this.#loaded.warnings) log.warn(renderProblem(warning));
    this.#watchdog = new Watchdog(this.#vitals, this.#serviceManager, this.#metrics, log);
    this.#site.adopt(access.credentials.control());
    await this.#servers.adjust(this.#loaded.config);
    await this.#reloads.begin();
  }

  /** Runs the daemon, again each time its state file fails. Throws `SyncError`. */
  async untilStopped(): Promise<void> {
    const fail = (): void => {
      this.#failed.abort();
    };
    await together({ fail }, [this.#own.run(), this.#cluster?.run() ?? Promise.resolve()]);
    this.#base.log.info('stopped');
  }

  /** Reloads the configuration, after any running reload. */
  reload(): Promise<ReloadOutcome> {
    return this.#reloads.request(null);
  }

  /** Approves halts once: of all sources, or of one. */
  approve(source: string | undefined): Approval {
    return this.#daemons.approve(source ?? null, null);
  }

  /** Closes everything. Throws the last error on the way, such as one of an embedding program's log. */
  async end(): Promise<void> {
    this.#stop.stop.removeEventListener('abort', this.#onStop);
    this.#reloads.end();
    this.#watchdog?.close();
    const steps: readonly (() => Promise<void> | undefined)[] = [
      () => this.#reloads.close(),
      () => this.#servers.close(),
      () => this.#notifier.close(),
      () => this.#platform.close(),
      () => this.#serviceManager.flush(),
    ];
    try {
      await inTurn(steps);
    } finally {
      this.#own.release();
      this.#service = { kind: 'stopped', lastAlive: new Date(systemClock.now()).toISOString() };
      await this.#hangGuard?.close();
    }
  }

  /**
   * Joins the cluster of the configuration; `null`: there is none, and then no module for it is loaded. Throws
   * `SyncError` if the ledger is unusable.
   */
  async #joinCluster(): Promise<ClusterPart | null> {
    const { cluster } = this.#loaded.config;
    if (cluster === null) return null;
    const { openDaemonCluster } = await import('./cluster-part.ts');
    return await openDaemonCluster(this.#loaded, cluster, this.#base.env, {
      ...{ metrics: this.#metrics, daemons: this.#daemons, platform: this.#platform },
      ...{ log: this.#base.log, stop: this.#stop },
      config: () => this.#loaded.config,
      platformName: (now) => platformName(this.#base.target, now),
      sources: () => this.answers.sources(),
      stands: (trouble) => {
        this.#measures.standsInCluster(trouble);
      },
    });
  }

  /** Applies another configuration. Throws `SyncError`; then the previous one stays in use. */
  async #take(next: LoadedConfig): Promise<void> {
    const { access, notifier } = await this.#platform.open(next);
    const before = this.#platform.take(access);
    for (const warning of next.warnings) this.#base.log.warn(renderProblem(warning));
    this.#loaded = next;
    this.#cluster?.reload();
    await this.#notifier.adopt(notifier);
    await this.#reloadDaemon(before);
    this.#site.adopt(access.credentials.control());
    await this.#servers.adjust(next.config);
    await this.#hangGuard?.adjust(next.config);
  }

  /** Reloads the daemons, and retires the previous access to the platform once nothing runs on it. */
  async #reloadDaemon(before: PlatformAccess | null): Promise<void> {
    let settled: Promise<void> | undefined;
    try {
      settled = (await this.#daemons.reload()).whenSettled;
    } finally {
      if (before !== null) this.#platform.retire(before, settled);
    }
  }
}

/** Runs all steps in order, even after failures. Throws the last error. */
async function inTurn(steps: readonly (() => Promise<void> | undefined)[]): Promise<void> {
  const [step, ...rest] = steps;
  if (step === undefined) return;
  try {
    await step();
  } finally {
    await inTurn(rest);
  }
}
