import { rmSync, statSync, writeFileSync } from 'node:fs';
import { renderProblem } from '../../config/problem.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { createMetrics, type Metrics, type PauseReason } from '../../service/metrics.ts';
import { createNotifier, type ServiceNotifier } from '../../service/notify.ts';
import { observed } from '../../service/observed-platform.ts';
import { findHolder, type ProcessLock } from '../../service/process-lock.ts';
import { Pulse, type Stage } from '../../service/pulse.ts';
import { listenForStop, type StopSignals } from '../../service/stop-signals.ts';
import { systemClock } from '../../service/system-clock.ts';
import { StateFileError } from '../../state/database.ts';
import { setAside } from '../../state/open.ts';
import type { StateStore } from '../../state/state-store.ts';
import { Daemon, type DaemonSettings } from '../../sync/daemon.ts';
import type { Stages } from '../../sync/engine.ts';
import { overview, type Overview } from '../../sync/overview.ts';
import { connect, type Connection } from '../connect.ts';
import { DaemonServers } from '../daemon-servers.ts';
import { DaemonTelling, healthOf } from '../daemon-telling.ts';
import { DaemonView } from '../daemon-view.ts';
import type { GlobalOptions } from '../global-options.ts';
import { holdLock } from '../hold-lock.ts';
import { load, platformName } from '../load.ts';
import { measure } from '../measure.ts';
import { openStateFile } from '../open-state-file.ts';
import { Teller } from '../teller.ts';
import { UsageError } from '../usage-error.ts';
import { version } from '../version.ts';
import { Watchdog } from '../watchdog.ts';

/** How long is waited before a state file that could not be written is tried again, milliseconds. */
const STATE_RETRY_MS = 15_000;

/** An overview is given out again for so long at least, milliseconds. */
const OVERVIEW_MS = 200;

/** Room that there should be before that, bytes. */
const PROBE_BYTES = 65_536;

/** Work that does not move for less than this may just be slow, milliseconds. */
const SHORTEST_STANDSTILL_MS = 120_000;

/** `botsync sync`: keeps everything up to date until a signal. Returns the exit code; throws `UsageError`. */
export async function syncDaemon(options: GlobalOptions, loaded: LoadedConfig): Promise<number> {
  const run = new DaemonRun(options, loaded);
  try {
    await run.begin();
    return await run.untilStopped();
  } finally {
    await run.end();
  }
}

/** A daemon with all that surrounds it: signals, listeners, the service manager. */
class DaemonRun {
  readonly #options: GlobalOptions;
  readonly #view: DaemonView;
  readonly #notifier: ServiceNotifier;
  readonly #signals: StopSignals;
  readonly #pulse = new Pulse(systemClock.monotonic);
  readonly #transfers: Stage;
  readonly #stages: Stages;
  readonly #telling: DaemonTelling;
  readonly #onReload = (): void => {
    // One that comes before all is up is made up for then; while it goes down, there is nothing to reload.
    this.#isReloadWanted = !this.#isUp;
    if (this.#isReloadWanted) return;
    this.#reloading = this.#reloading.then(() => this.#reload());
  };
  #isUp = false;
  #isReloadWanted = false;
  #seen: { readonly state: StateStore; readonly overview: Overview; readonly untilMs: number } | null = null;
  #lock: ProcessLock | null = null;
  /** Connections of earlier settings that are still in use. */
  readonly #closing = new Set<Promise<void>>();
  /** Whether the state file was once in use: then it will be again. */
  #wasOpen = false;
  #metrics: Metrics | null = null;
  #servers: DaemonServers | null = null;
  #watchdog: Watchdog | null = null;
  #loaded: LoadedConfig;
  #connection: Connection | null = null;
  #daemon: Daemon | null = null;
  #state: StateStore | null = null;
  /** Why the state file cannot be used, while it cannot. */
  #trouble: string | null = null;
  #reloading: Promise<void> = Promise.resolve();

  constructor(options: GlobalOptions, loaded: LoadedConfig) {
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
    this.#signals = listenForStop(
      (signal) => {
        this.#view.log.info('stopping: what is under way may end, nothing new is begun', { signal });
        this.#notifier.stopping();
      },
      () => process.exit(EXIT.interrupted),
    );
    // Files that are refused for their bot or for want of room are not in hand: that is no excuse.
    const isPaused = (): boolean =>
      this.#isAskedToPause || this.#daemon?.activity.platformOutOfReach === true;
    const transfer = this.#pulse.stage('transfer', isPaused);
    const file = this.#pulse.stage('file', isPaused);
    this.#stages = { walk: this.#pulse.stage('walk'), file };
    this.#transfers = {
      ...transfer,
      progress: () => {
        transfer.progress();
        // A file that takes hours moves with every piece of it.
        file.progress();
      },
    };
  }

  /** Takes up what is kept for the whole run. Throws `UsageError`. */
  async begin(): Promise<void> {
    const { log } = this.#view;
    // By default the signal would end the process, and the service manager may send it at any time.
    process.on('SIGHUP', this.#onReload);
    this.#lock = holdLock(this.#loaded.config.stateFile, 'the state file', 'sync');
    this.#metrics = await createMetrics(version(), () => this.#measure());
    this.#connection = await this.#connect(this.#loaded);
    await this.#telling.adopt(await this.#openTeller(this.#loaded));
    for (const warning of this.#loaded.warnings) log.warn(renderProblem(warning));
    this.#watchdog = new Watchdog(
      {
        pulse: this.#pulse,
        standstillMs: () => this.#standstillMs(),
        pausedBy: () => this.#pausedBy(),
      },
      this.#notifier,
      this.#metrics,
      log,
    );
    this.#servers = new DaemonServers(
      {
        readiness: () => {
          const reasons = this.#impediments();
          return { ready: reasons.length === 0, reasons };
        },
        metrics: async () => (await this.#metrics?.render()) ?? { contentType: 'text/plain', body: '' },
        status: () => this.#status(),
        approve: (source) => ({
          ...(this.#daemon?.approve(source) ?? { approved: [], missing: [] }),
          trouble: this.#trouble,
        }),
        failed: (error) => {
          log.error('a question over HTTP could not be answered', { reason: (error as Error).message });
        },
      },
      log,
    );
    await this.#servers.adjust(this.#loaded.config);
    this.#isUp = true;
    if (this.#isReloadWanted) this.#onReload();
  }

  /** Runs the daemon, over and over when its state file fails it. Returns the exit code. */
  async untilStopped(): Promise<number> {
    const { stop } = this.#signals;
    for (let isChecked = this.#lock?.wasAbandoned === true; !stop.aborted; isChecked = true) {
      const trouble = await this.#runOnce(isChecked);
      if (trouble === null) continue;
      const { stateFile } = this.#loaded.config;
      if (trouble.kind === 'gone') {
        this.#view.log.error(
          `THE STATE FILE IS GONE (${trouble.message}); a new one is built by sending every file again.`,
        );
        await this.#takeUpAnew(stateFile);
        continue;
      }
      let reason = trouble.message;
      if (trouble.kind === 'damaged') {
        const aside = setAside(stateFile, Date.now());
        if (aside.kind === 'kept') {
          this.#view.log.error(
            `THE STATE FILE IS DAMAGED (${reason}). It is kept as ${aside.name}; a new one is built by sending every file again.`,
          );
          continue;
        }
        reason = `it is damaged (${reason}), and ${aside.reason}`;
      }
      this.#trouble = `the state file cannot be used: ${reason}`;
      this.#view.log.error(`${this.#trouble}; make room, nothing is lost: it is tried again`, { stateFile });
      await this.#untilWritable(stateFile);
    }
    this.#view.log.info('stopped');
    return EXIT.ok;
  }

  /** Lets go of everything. */
  async end(): Promise<void> {
    this.#isUp = false;
    this.#watchdog?.close();
    await this.#reloading;
    await this.#servers?.close();
    await this.#telling.close();
    await Promise.all(this.#closing);
    await this.#connection?.close();
    this.#signals.release();
    await this.#notifier.flush();
    this.#lock?.release();
    process.off('SIGHUP', this.#onReload);
  }

  /** The lock and the socket went with the state file. Throws `UsageError` (exit 6) when another botsync has come. */
  async #takeUpAnew(stateFile: string): Promise<void> {
    this.#lock?.release();
    this.#lock = holdLock(stateFile, 'the state file', 'sync');
    await this.#servers?.close();
    await this.#servers?.adjust(this.#loaded.config);
  }

  /** Runs until a stop (`null`) or until the state file cannot be used. Throws `UsageError` for one that is not for us. */
  async #runOnce(isChecked: boolean): Promise<StateFileError | null> {
    const { stateFile } = this.#loaded.config;
    let state: StateStore;
    try {
      state = openStateFile(stateFile, isChecked, (message) => {
        this.#view.warn(message);
      });
    } catch (error) {
      // What could be used before will be again.
      if (!this.#wasOpen || !(error instanceof UsageError)) throw error;
      return new StateFileError('unwritable', error.message);
    }
    this.#trouble = null;
    this.#wasOpen = true;
    this.#state = state;
    let isBroken = false;
    try {
      this.#daemon = new Daemon(this.#settings(), {
        state,
        clock: systemClock,
        random: Math.random,
        report: this.#view,
        observer: this.#view,
        stages: this.#stages,
        stop: this.#signals.stop,
        abort: this.#signals.abort,
      });
      this.#telling.attach({
        state,
        health: () => healthOf(this.#daemon),
        platformNow: () => this.#connection?.platform.now() ?? Date.now(),
        ended: (outcome) => {
          this.#metrics?.notificationEnded(outcome);
        },
      });
      await this.#daemon.run();
      return null;
    } catch (error) {
      if (!(error instanceof StateFileError)) throw error;
      isBroken = true;
      return error;
    } finally {
      await this.#telling.detach();
      this.#daemon = null;
      this.#state = null;
      closeState(state, isBroken);
    }
  }

  #settings(): DaemonSettings {
    const { config } = this.#loaded;
    if (this.#connection === null) throw new Error('no connection');
    const { platform } = this.#connection;
    return {
      config,
      platformName: platformName(this.#options, config),
      platform: observed(platform, {
        stage: this.#transfers,
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

  #connect(loaded: LoadedConfig): Promise<Connection> {
    const warn = (message: string): void => {
      this.#view.warn(message);
    };
    return connect(this.#options, loaded, systemClock, warn, loaded.config.watch.rescanMs);
  }

  #openTeller(loaded: LoadedConfig): Promise<Teller | null> {
    const emulator = this.#connection?.emulator ?? null;
    const { log } = this.#view;
    const howToApprove = 'approve';
    return Teller.open({ options: this.#options, loaded, emulator, clock: systemClock, log, howToApprove });
  }

  /** Reads configuration and secrets again. What is wrong with them is told, and everything stays as it was. */
  async #reload(): Promise<void> {
    const { log } = this.#view;
    const isUp = this.#view.isReady;
    if (isUp) this.#notifier.reloading();
    log.info('reloading the configuration', { file: this.#loaded.config.file });
    let teller: Teller | null = null;
    try {
      if (statSync(this.#options.config, { throwIfNoEntry: false })?.isFile() === false)
        throw new UsageError(`${this.#options.config} is not a regular file`);
      const next = load(this.#options);
      if (next.config.stateFile !== this.#loaded.config.stateFile)
        throw new UsageError(`${next.file}: stateFile: another one needs a restart`);
      if (this.#options.emulator && botsOf(next) !== botsOf(this.#loaded))
        throw new UsageError(`${next.file}: botId: with --emulator, another bot needs a restart`);
      teller = await this.#openTeller(next);
      const before = this.#connection;
      // The embedded emulator takes any token, and goes on as it is.
      const connection = this.#options.emulator ? before : await this.#connect(next);
      const isNew = connection?.fingerprint !== before?.fingerprint;
      if (!isNew && connection !== before) await connection?.close();
      if (isNew && connection !== null) {
        // What the platform asked for holds for whoever comes next.
        connection.pause(before?.pausedForMs() ?? 0);
        this.#connection = connection;
      }
      for (const warning of next.warnings) log.warn(renderProblem(warning));
      this.#loaded = next;
      await this.#telling.adopt(teller);
      teller = null;
      const reloaded = await this.#daemon?.reload(this.#settings());
      if (isNew && before !== null) this.#closeOnce(before, reloaded?.whenSettled);
      await this.#servers?.adjust(next.config);
      log.info('the configuration was reloaded');
      if (isUp) this.#notifier.ready('reloaded');
    } catch (error) {
      await teller?.close();
      // A defect is told as well, and ends neither the daemon nor its next reload.
      const reason = error instanceof UsageError ? error.message : String((error as Error).stack);
      log.error(`not reloaded, the configuration before goes on: ${reason}`);
      if (isUp) this.#notifier.ready('not reloaded: the configuration is wrong');
    }
  }

  async #untilWritable(stateFile: string): Promise<void> {
    const { stop } = this.#signals;
    for (let isTime = false; !isTime; isTime = stop.aborted || isWritable(stateFile))
      await systemClock.sleep(STATE_RETRY_MS, stop);
  }

  /** What is under way by a connection goes on until it ends. */
  #closeOnce(connection: Connection, settled: Promise<void> = Promise.resolve()): void {
    const closed = settled.then(() => connection.close()).finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }

  #impediments(): string[] {
    if (this.#trouble !== null) return [this.#trouble];
    return this.#daemon?.impediments ?? ['starting'];
  }

  #status(): unknown {
    const { config } = this.#loaded;
    const seen = this.#overview() ?? { sources: [], failures: [], lastPass: null };
    const daemon = {
      ...findHolder(config.stateFile),
      ...this.#daemon?.activity,
      notReady: this.#impediments(),
    };
    return { ...seen, daemon };
  }

  #measure() {
    const seen = this.#overview();
    if (seen === null) return [];
    return measure(seen, this.#daemon?.watchedDirectories ?? new Map(), this.#view.lastSuccessMs);
  }

  /** Every row is read for it, so that whoever asks again at once gets the same. */
  #overview(): Overview | null {
    if (this.#state === null) return null;
    const nowMs = systemClock.monotonic();
    if (this.#seen?.state === this.#state && nowMs < this.#seen.untilMs) return this.#seen.overview;
    const { config } = this.#loaded;
    const seen = overview(this.#state, config, platformName(this.#options, config), Date.now());
    const tookMs = systemClock.monotonic() - nowMs;
    this.#seen = { state: this.#state, overview: seen, untilMs: nowMs + Math.max(OVERVIEW_MS, tookMs * 20) };
    return seen;
  }

  get #isAskedToPause(): boolean {
    return (this.#connection?.pausedForMs() ?? 0) > 0;
  }

  #pausedBy(): PauseReason | null {
    const activity = this.#daemon?.activity;
    if (this.#isAskedToPause) return 'asked';
    if (activity?.platformOutOfReach === true) return 'outage';
    return activity !== undefined && activity.blocked !== null ? 'blockade' : null;
  }

  #standstillMs(): number {
    const { stallTimeoutMs, maxBytesPerSecond } = this.#loaded.config.upload;
    // A piece of content may have to wait for our own speed limit.
    const pieceMs = maxBytesPerSecond === null ? 0 : (1_000_000 / maxBytesPerSecond) * 1000;
    return Math.max(SHORTEST_STANDSTILL_MS, stallTimeoutMs * 3, pieceMs * 3);
  }
}

/** The bots that the embedded emulator knows. */
function botsOf({ config }: LoadedConfig): string {
  return JSON.stringify(config.sources.map(({ botId }) => botId));
}

/** Whether files can be written beside the state file. Opening it again to find out would leave a descriptor each time. */
function isWritable(stateFile: string): boolean {
  const probe = `${stateFile}.probe`;
  try {
    writeFileSync(probe, Buffer.alloc(PROBE_BYTES), { flush: true, mode: 0o600 });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(probe, { force: true });
  }
}

function closeState(state: StateStore, isBroken: boolean): void {
  try {
    state.close();
  } catch (error) {
    if (!isBroken) throw error;
  }
}
