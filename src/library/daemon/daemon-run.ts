import type { LoadedConfig } from '../../config/load-config.ts';
import { renderProblem } from '../../config/problem.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { createMetrics, type Metrics } from '../../service/metrics.ts';
import { openServiceManager, type ServiceManager } from '../../service/systemd-notify.ts';
import { observed, observedCatalog, type RequestObserver } from '../../service/observed-platform.ts';
import type { ProcessLock } from '../../service/process-lock.ts';
import { listenForStop, type StopSignals } from '../../service/stop-signals.ts';
import { systemClock } from '../../service/system-clock.ts';
import { StateFileError } from '../../state/database.ts';
import type { StateStore } from '../../state/state-store.ts';
import { Daemon, type DaemonSettings } from '../../sync/daemon/daemon.ts';
import type { Verified } from '../../sync/plan/verify.ts';
import { credentialAdvice } from '../credential-advice.ts';
import { countAhead } from '../count-ahead.ts';
import { alike, type GlobalOptions } from '../../cli/global-options.ts';
import { holdLock } from '../hold-lock.ts';
import { platformName } from '../load.ts';
import type { PlatformAccess } from '../platform/platform-access.ts';
import { version } from '../version.ts';
import { DaemonAnswers } from './answers.ts';
import { ConfigFiles } from './config-files.ts';
import { DaemonPlatform } from './daemon-platform.ts';
import { HangGuard } from './hang-guard.ts';
import { Reloads } from './reloads.ts';
import { DaemonServers } from './servers.ts';
import { StateKeeper } from './state-keeper.ts';
import { DaemonNotifier, healthOf } from './daemon-notifier.ts';
import { greeting } from '../../cli/render/greeting.ts';
import type { Standing } from '../../cli/render/progress-watch.ts';
import { DaemonView } from '../../cli/render/daemon-view.ts';
import { DaemonVitals } from './vitals.ts';
import { Watchdog } from './watchdog.ts';

/** A daemon with all that surrounds it: signals, listeners, the service manager. */
export class DaemonRun {
  readonly #options: GlobalOptions;
  readonly #view: DaemonView;
  readonly #serviceManager: ServiceManager;
  readonly #signals: StopSignals;
  readonly #vitals: DaemonVitals;
  readonly #answers: DaemonAnswers;
  readonly #notifier: DaemonNotifier;
  readonly #platform: DaemonPlatform;
  readonly #files: ConfigFiles;
  readonly #reloads: Reloads;
  readonly #hangGuard: HangGuard;
  #lock: ProcessLock | null = null;
  #metrics: Metrics | null = null;
  #servers: DaemonServers | null = null;
  #watchdog: Watchdog | null = null;
  #loaded: LoadedConfig;
  #keeper: StateKeeper | null = null;
  #state: StateStore | null = null;
  #daemon: Daemon | null = null;

  /** @param content - what the configuration file held before `loaded` was read, as `lookAtFile` has it. */
  constructor(options: GlobalOptions, loaded: LoadedConfig, content: string) {
    this.#options = options;
    this.#loaded = loaded;
    this.#serviceManager = openServiceManager(process.env, (message) => {
      this.#view.warn(message);
    });
    this.#view = new DaemonView(options, this.#serviceManager, {
      metrics: () => this.#metrics,
      watchSettings: () => this.#loaded.config.watch,
      standing: () => this.#standing,
      onPassEnded: () => {
        this.#notifier.wake();
      },
      howToRenewCredentials: () => credentialAdvice(this.#loaded, options),
    });
    this.#notifier = new DaemonNotifier(this.#view.log);
    const { log } = this.#view;
    this.#platform = new DaemonPlatform(options, log);
    this.#hangGuard = new HangGuard(log);
    const changed = (files: readonly string[]): Promise<void> => this.#reloads.request(files);
    const readsSecrets = !options.emulator;
    this.#files = new ConfigFiles({ clock: systemClock, log, readsSecrets, content, changed }, loaded);
    this.#reloads = new Reloads({
      options,
      log,
      serviceManager: this.#serviceManager,
      files: this.#files,
      isReady: () => this.#view.isReady,
      loaded: () => this.#loaded,
      take: (next) => this.#take(next),
    });
    this.#signals = listenForStop(
      (signal) => {
        this.#view.stopping(signal);
        this.#serviceManager.stopping();
        this.#platform.current?.endWaits();
      },
      () => {
        this.#view.endNow();
        process.exit(EXIT.interrupted);
      },
    );
    this.#vitals = new DaemonVitals({
      monotonic: systemClock.monotonic,
      pausedForMs: () => this.#platform.current?.pausedForMs() ?? 0,
      activity: () => this.#daemon?.activity ?? null,
      uploadSettings: () => this.#loaded.config.upload,
    });
    this.#answers = new DaemonAnswers(options, systemClock.monotonic, () => ({
      loaded: this.#loaded,
      daemon: this.#daemon,
      state: this.#state,
      trouble: this.#keeper?.trouble ?? null,
      lastSuccessMs: this.#view.lastSuccessMs,
      reload: () => this.#reloads.reloadNow(),
    }));
  }

  /** Takes up what is kept for the whole run. Throws `SyncError`. */
  async begin(): Promise<void> {
    const { log } = this.#view;
    this.#reloads.listen();
    this.#lock = holdLock(this.#loaded.config.stateFile, 'the state file', 'sync');
    this.#greet();
    await this.#hangGuard.adjust(this.#loaded.config);
    this.#metrics = await createMetrics(version(), () => this.#answers.measures());
    await this.#files.followAlso(this.#loaded);
    const { access, notifier } = await this.#platform.open(this.#loaded);
    this.#platform.take(access);
    await this.#notifier.adopt(notifier);
    for (const warning of this.#loaded.warnings) log.warn(renderProblem(warning));
    this.#watchdog = new Watchdog(this.#vitals, this.#serviceManager, this.#metrics, log);
    this.#servers = new DaemonServers(this.#answers.ports(this.#metrics, log), log);
    await this.#servers.adjust(this.#loaded.config);
    this.#reloads.begin();
    await this.#files.adopt(this.#loaded);
    this.#reloads.makeUp();
  }

  /** Runs the daemon, over and over when its state file fails it. Returns the exit code. Throws `SyncError`. */
  async untilStopped(): Promise<number> {
    const { stateFile } = this.#loaded.config;
    this.#keeper = new StateKeeper({
      stateFile,
      wasAbandoned: this.#lock?.wasAbandoned === true,
      clock: systemClock,
      log: this.#view.log,
      stop: this.#signals.stop,
      regain: () => this.#regain(stateFile),
    });
    await this.#keeper.untilStopped((state) => this.#serve(state));
    this.#view.log.info('stopped');
    return EXIT.ok;
  }

  #greet(): void {
    const { config } = this.#loaded;
    const platform = this.#options.emulator ? 'the emulator, within this process' : config.platform.baseUrl;
    this.#view.greet(greeting(config, platform, version(), process.version));
  }

  /** How the daemon stands, for those who watch it; `null` while there is none. */
  get #standing(): Standing | null {
    const daemon = this.#daemon;
    if (daemon === null) return null;
    const pausedForMs = (): number => this.#platform.current?.pausedForMs() ?? 0;
    return {
      get activity() {
        return daemon.activity;
      },
      get isHindered() {
        return daemon.impediments.length > 0;
      },
      get unconfirmed() {
        return daemon.unconfirmed;
      },
      get pausedForMs() {
        return pausedForMs();
      },
    };
  }

  /** Lets go of everything. */
  async end(): Promise<void> {
    this.#reloads.end();
    this.#watchdog?.close();
    await this.#files.close();
    await this.#reloads.settled();
    await this.#servers?.close();
    await this.#notifier.close();
    await this.#platform.close();
    await this.#serviceManager.flush();
    this.#lock?.release();
    await this.#view.end();
    await this.#hangGuard.close();
    this.#signals.release();
  }

  /** Where the directory of the state file went, so did the lock and the socket. */
  async #regain(stateFile: string): Promise<void> {
    if (this.#lock?.isInPlace() === true) return;
    this.#lock?.release();
    this.#lock = null;
    this.#lock = holdLock(stateFile, 'the state file', 'sync');
    await this.#servers?.close();
    await this.#servers?.adjust(this.#loaded.config);
  }

  /** Runs a daemon until a stop. Throws `StateFileError`. */
  async #serve(state: StateStore): Promise<void> {
    this.#state = state;
    const last = state.remote.verification();
    if (last !== null)
      this.#metrics?.verified(last.finishedAtMs, (JSON.parse(last.summary) as Verified).reasons);
    try {
      const daemon = new Daemon(this.#settings(), {
        state,
        clock: systemClock,
        random: Math.random,
        report: this.#view,
        observer: this.#view,
        stages: this.#vitals.stages,
        checkInPlace: () => {
          state.checkInPlace();
          if (this.#lock?.isInPlace() !== true)
            throw new StateFileError('unlocked', 'its lock file was removed or replaced');
        },
        howToAllow: `run: botsync approve${alike(this.#options)}`,
        stop: this.#signals.stop,
        abort: this.#signals.abort,
      });
      this.#daemon = daemon;
      this.#notifier.attach({
        state,
        health: () => healthOf(this.#daemon),
        platformNow: () => this.#platform.current?.clients.files().now() ?? Date.now(),
        ended: (outcome) => {
          this.#metrics?.notificationEnded(outcome);
        },
      });
      await this.#counting(state, () => daemon.run());
    } finally {
      await this.#notifier.detach();
      this.#daemon = null;
      this.#state = null;
    }
  }

  /** Tells the progress line of a terminal, while the daemon begins, how much the first pass has to send. */
  async #counting(state: StateStore, run: () => Promise<void>): Promise<void> {
    if (!this.#view.showsProgress) {
      await run();
      return;
    }
    const ended = new AbortController();
    const { config } = this.#loaded;
    const counting = countAhead(
      {
        config,
        platformName: platformName(this.#options, config),
        state,
        platformNow: () => this.#platform.current?.clients.files().now() ?? Date.now(),
        isForced: () => false,
        seen: (files) => {
          this.#view.looking(files);
        },
      },
      AbortSignal.any([ended.signal, this.#signals.stop]),
    ).then(
      (ahead) => {
        if (ahead !== null && !ended.signal.aborted) this.#view.expect(ahead.files, ahead.bytes);
      },
      // The daemon meets what the count meets, and tells of it.
      () => undefined,
    );
    try {
      await run();
    } finally {
      ended.abort();
      await counting;
    }
  }

  #settings(): DaemonSettings {
    const { config } = this.#loaded;
    const { current } = this.#platform;
    if (current === null) throw new Error('no connection');
    const observer: RequestObserver = {
      stage: this.#vitals.transfers,
      requestEnded: (operation, outcome, seconds) => {
        this.#metrics?.requestEnded(operation, outcome, seconds);
      },
      monotonic: systemClock.monotonic,
    };
    const catalog = current.clients.catalog();
    return {
      config,
      platformName: platformName(this.#options, config),
      platform: observed(current.clients.files(), observer),
      catalog: catalog && observedCatalog(catalog, observer),
      ...(this.#notifier.announces && {
        onDelivery: (delivery) => {
          this.#notifier.delivered(delivery);
        },
      }),
    };
  }

  /** Goes on under another configuration. Throws `SyncError`; nothing has changed then. */
  async #take(next: LoadedConfig): Promise<void> {
    await this.#files.followAlso(next);
    const { access, notifier } = await this.#platform.open(next);
    const before = this.#platform.take(access);
    for (const warning of next.warnings) this.#view.log.warn(renderProblem(warning));
    this.#loaded = next;
    await this.#notifier.adopt(notifier);
    await this.#reloadDaemon(before);
    await this.#servers?.adjust(next.config);
    await this.#hangGuard.adjust(next.config);
    await this.#files.adopt(next);
  }

  /** `before`: the way to the platform that is used no more once what is under way by it has ended. */
  async #reloadDaemon(before: PlatformAccess | null): Promise<void> {
    let settled: Promise<void> | undefined;
    try {
      settled = (await this.#daemon?.reload(this.#settings()))?.whenSettled;
    } finally {
      if (before !== null) this.#platform.retire(before, settled);
    }
  }
}
