import type { LoadedConfig } from '../../config/load-config.ts';
import { renderProblem } from '../../config/problem.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { createMetrics, type Metrics } from '../../service/metrics.ts';
import { HangWatch } from '../../service/hang-watch.ts';
import { createNotifier, type ServiceNotifier } from '../../service/systemd-notify.ts';
import { observed } from '../../service/observed-platform.ts';
import type { ProcessLock } from '../../service/process-lock.ts';
import { listenForStop, type StopSignals } from '../../service/stop-signals.ts';
import { systemClock } from '../../service/system-clock.ts';
import { StateFileError } from '../../state/database.ts';
import type { StateStore } from '../../state/state-store.ts';
import { Daemon, type DaemonSettings } from '../../sync/daemon/daemon.ts';
import { connect, type Connection } from '../connect.ts';
import { alike, type GlobalOptions } from '../global-options.ts';
import { holdLock } from '../hold-lock.ts';
import { platformName } from '../load.ts';
import { sourceStack } from '../source-stack.ts';
import { Teller } from '../teller.ts';
import { UsageError } from '../usage-error.ts';
import { version } from '../version.ts';
import { DaemonAnswers } from './answers.ts';
import { ConfigFiles } from './config-files.ts';
import { ConnectionHolder } from './connection-holder.ts';
import { loadAgain } from './load-again.ts';
import { DaemonServers } from './servers.ts';
import { StateKeeper } from './state-keeper.ts';
import { DaemonTelling, healthOf } from './telling.ts';
import { DaemonView } from './view.ts';
import { DaemonVitals } from './vitals.ts';
import { Watchdog } from './watchdog.ts';

/** A daemon with all that surrounds it: signals, listeners, the service manager. */
export class DaemonRun {
  readonly #options: GlobalOptions;
  readonly #view: DaemonView;
  readonly #notifier: ServiceNotifier;
  readonly #signals: StopSignals;
  readonly #vitals: DaemonVitals;
  readonly #answers: DaemonAnswers;
  readonly #telling: DaemonTelling;
  readonly #connections: ConnectionHolder<Connection>;
  readonly #files: ConfigFiles;
  readonly #onReload = (): void => {
    // One that comes before all is up is made up for then; while it goes down, there is nothing to reload.
    this.#isReloadWanted = !this.#isUp;
    if (!this.#isReloadWanted) void this.#requestReload(null);
  };
  #isUp = false;
  #isReloadWanted = false;
  #reloading: Promise<void> = Promise.resolve();
  #lock: ProcessLock | null = null;
  #metrics: Metrics | null = null;
  #servers: DaemonServers | null = null;
  #watchdog: Watchdog | null = null;
  #hangWatch: { readonly timeoutMs: number; readonly watch: HangWatch } | null = null;
  #loaded: LoadedConfig;
  #keeper: StateKeeper | null = null;
  #state: StateStore | null = null;
  #daemon: Daemon | null = null;

  /** @param content - what the configuration file held before `loaded` was read, as `lookAtFile` has it. */
  constructor(options: GlobalOptions, loaded: LoadedConfig, content: string) {
    this.#options = options;
    this.#loaded = loaded;
    this.#notifier = createNotifier(process.env, (message) => {
      this.#view.warn(message);
    });
    const onPassEnded = (): void => {
      this.#telling.wake();
    };
    this.#view = new DaemonView(options, this.#notifier, () => this.#metrics, onPassEnded);
    this.#telling = new DaemonTelling(this.#view.log);
    this.#connections = new ConnectionHolder(this.#view.log);
    const { log } = this.#view;
    const changed = (files: readonly string[]): Promise<void> => this.#requestReload(files);
    const readsSecrets = !options.emulator;
    this.#files = new ConfigFiles({ clock: systemClock, log, readsSecrets, content, changed }, loaded);
    this.#signals = listenForStop(
      (signal) => {
        this.#view.log.info('stopping: what is under way may end, nothing new is begun', { signal });
        this.#notifier.stopping();
        this.#connections.current?.endWaits();
      },
      () => process.exit(EXIT.interrupted),
    );
    this.#vitals = new DaemonVitals({
      monotonic: systemClock.monotonic,
      pausedForMs: () => this.#connections.current?.pausedForMs() ?? 0,
      activity: () => this.#daemon?.activity ?? null,
      uploadSettings: () => this.#loaded.config.upload,
    });
    this.#answers = new DaemonAnswers(options, systemClock.monotonic, () => ({
      loaded: this.#loaded,
      daemon: this.#daemon,
      state: this.#state,
      trouble: this.#keeper?.trouble ?? null,
      lastSuccessMs: this.#view.lastSuccessMs,
    }));
  }

  /** Takes up what is kept for the whole run. Throws `UsageError`. */
  async begin(): Promise<void> {
    const { log } = this.#view;
    // By default the signal would end the process, and the service manager may send it at any time.
    process.on('SIGHUP', this.#onReload);
    this.#lock = holdLock(this.#loaded.config.stateFile, 'the state file', 'sync');
    await this.#watchForHangs(this.#loaded);
    this.#metrics = await createMetrics(version(), () => this.#answers.measures());
    await this.#files.followAlso(this.#loaded);
    this.#connections.take(await this.#connect(this.#loaded));
    await this.#telling.adopt(await this.#openTeller(this.#loaded));
    for (const warning of this.#loaded.warnings) log.warn(renderProblem(warning));
    this.#watchdog = new Watchdog(this.#vitals, this.#notifier, this.#metrics, log);
    this.#servers = this.#createServers(this.#metrics);
    await this.#servers.adjust(this.#loaded.config);
    this.#isUp = true;
    await this.#files.adopt(this.#loaded);
    if (this.#isReloadWanted) this.#onReload();
  }

  /** Runs the daemon, over and over when its state file fails it. Returns the exit code. Throws `UsageError`. */
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

  /** Lets go of everything. */
  async end(): Promise<void> {
    this.#isUp = false;
    this.#watchdog?.close();
    await this.#files.close();
    await this.#reloading;
    await this.#servers?.close();
    await this.#telling.close();
    await this.#connections.close();
    await this.#notifier.flush();
    this.#lock?.release();
    await this.#view.end();
    await this.#hangWatch?.watch.close();
    this.#signals.release();
    // SIGHUP stays listened for: by default it would end the process, and not with its exit code.
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
      this.#telling.attach({
        state,
        health: () => healthOf(this.#daemon),
        platformNow: () => this.#connections.current?.platform.now() ?? Date.now(),
        ended: (outcome) => {
          this.#metrics?.notificationEnded(outcome);
        },
      });
      await daemon.run();
    } finally {
      await this.#telling.detach();
      this.#daemon = null;
      this.#state = null;
    }
  }

  #settings(): DaemonSettings {
    const { config } = this.#loaded;
    if (this.#connections.current === null) throw new Error('no connection');
    const { platform } = this.#connections.current;
    return {
      config,
      platformName: platformName(this.#options, config),
      platform: observed(platform, {
        stage: this.#vitals.transfers,
        requestEnded: (operation, outcome, seconds) => {
          this.#metrics?.requestEnded(operation, outcome, seconds);
        },
        monotonic: systemClock.monotonic,
      }),
      ...(this.#telling.announces && {
        onDelivery: (delivery) => {
          this.#telling.delivered(delivery);
        },
      }),
    };
  }

  #createServers(metrics: Metrics): DaemonServers {
    const { log } = this.#view;
    return new DaemonServers(
      {
        readiness: () => {
          const reasons = this.#answers.impediments;
          return { ready: reasons.length === 0, reasons };
        },
        metrics: () => metrics.render(),
        status: () => this.#answers.status(),
        approve: (source) => ({
          ...(this.#daemon?.approve(source) ?? { approved: [], missing: [] }),
          trouble: this.#keeper?.trouble ?? null,
        }),
        failed: (error) => {
          log.error('a question over HTTP could not be answered', { reason: (error as Error).message });
        },
      },
      log,
    );
  }

  #connect(loaded: LoadedConfig): Promise<Connection> {
    const warn = (message: string): void => {
      this.#view.warn(message);
    };
    return connect(this.#options, loaded, systemClock, warn, loaded.config.watch.rescanMs);
  }

  #openTeller(loaded: LoadedConfig): Promise<Teller | null> {
    const emulator = this.#connections.current?.emulator ?? null;
    const { log } = this.#view;
    const howToApprove = 'approve';
    return Teller.open({ options: this.#options, loaded, emulator, clock: systemClock, log, howToApprove });
  }

  /** Reloads after what is under way. `changed`: the files that call for it; `null` for a signal. */
  #requestReload(changed: readonly string[] | null): Promise<void> {
    if (this.#isUp) this.#reloading = this.#reloading.then(() => this.#reload(changed));
    return this.#reloading;
  }

  /** Reads configuration and secrets again. What is wrong with them is told, and everything stays as it was. */
  async #reload(changed: readonly string[] | null): Promise<void> {
    const { log } = this.#view;
    const isUp = this.#view.isReady;
    const before = this.#loaded;
    if (isUp) this.#notifier.reloading();
    log.info('reloading the configuration', {
      file: before.config.file,
      ...(changed !== null && { changed }),
    });
    try {
      if (changed === null) await this.#files.accept();
      const next = loadAgain(this.#options, before);
      await this.#take(next);
      if (changed === null) log.info('the configuration was reloaded');
      else {
        const takenOver = this.#files.takenOver(before, next, changed);
        log.info('configuration changed on disk: reloaded', { changed, takenOver });
      }
      if (isUp) this.#notifier.ready('reloaded');
    } catch (error) {
      // A defect is told as well, and ends neither the daemon nor its next reload.
      const reason = error instanceof UsageError ? error.message : sourceStack(error);
      log.error(`not reloaded, the configuration before goes on: ${reason}`);
      if (isUp) this.#notifier.ready('not reloaded: the configuration is wrong');
    }
  }

  /** Goes on under another configuration. Throws `UsageError`; nothing has changed then. */
  async #take(next: LoadedConfig): Promise<void> {
    await this.#files.followAlso(next);
    const teller = await this.#openTeller(next);
    let connection: Connection | null = null;
    try {
      // The embedded emulator takes any token, and goes on as it is.
      if (!this.#options.emulator) connection = await this.#connect(next);
    } catch (error) {
      await teller?.close();
      throw error;
    }
    const before = connection === null ? null : this.#connections.take(connection);
    for (const warning of next.warnings) this.#view.log.warn(renderProblem(warning));
    this.#loaded = next;
    await this.#telling.adopt(teller);
    let settled: Promise<void> | undefined;
    try {
      settled = (await this.#daemon?.reload(this.#settings()))?.whenSettled;
    } finally {
      // What is under way by it goes on until it ends.
      if (before !== null) this.#connections.retire(before, settled);
    }
    await this.#servers?.adjust(next.config);
    await this.#watchForHangs(next);
    await this.#files.adopt(next);
  }

  async #watchForHangs({ config }: LoadedConfig): Promise<void> {
    const timeoutMs = config.service.hangTimeoutMs;
    if (timeoutMs === this.#hangWatch?.timeoutMs) return;
    await this.#hangWatch?.watch.close();
    const thread = new URL('./hang-watch-thread.js', import.meta.url);
    const watch = new HangWatch(thread, timeoutMs, (reason) => {
      this.#view.log.warn('a file system that hangs would not be noticed', { reason });
    });
    this.#hangWatch = { timeoutMs, watch };
  }
}
