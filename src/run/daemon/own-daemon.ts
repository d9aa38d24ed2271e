import type { LoadedConfig } from '../../config/load-config.ts';
import type { Metrics } from '../../service/metrics.ts';
import type { DaemonPlatform } from './daemon-platform.ts';
import type { RunBase } from '../run-base.ts';
import type { ProcessLock } from '../../service/process-lock.ts';
import { systemClock } from '../../service/system-clock.ts';
import { StateFileError } from '../../store/database.ts';
import type { StateStore } from '../../store/state-store.ts';
import type { Verified } from '../../domain/status.ts';
import type { HistoryRecorder } from '../history-recorder.ts';
import { localHolding } from '../holding.ts';
import { holdLock, SERVICE } from '../state-file.ts';
import type { Stop } from '../stop.ts';
import { runCounting } from '../count-ahead.ts';
import type { Daemons } from './daemons.ts';
import { StateKeeper } from './state-keeper.ts';

/** Interval at which a host of a cluster checks that its state file is in place, milliseconds. */
const LOOK_MS = 10_000;

/** Interval for recording that the service runs, milliseconds. */
const BEAT_MS = 60_000;

/** Functions return values that may change. */
interface OwnDaemonInput extends RunBase {
  /** True to count how much the first pass will send. */
  readonly estimates: boolean;
  readonly stop: Stop;
  readonly history: HistoryRecorder;
  readonly daemons: Daemons;
  readonly loaded: () => LoadedConfig;
  readonly isInCluster: () => boolean;
  readonly metrics: Metrics;
  readonly platform: DaemonPlatform;
  /** Called after the lock was taken again, because the directory of the state file was replaced. */
  readonly moved: () => Promise<void>;
}

/** Works with the state file of this host: runs its daemon, or in a cluster only keeps the file. */
export class OwnDaemon {
  readonly #input: OwnDaemonInput;
  #lock: ProcessLock | null = null;
  #keeper: StateKeeper | null = null;
  #state: StateStore | null = null;

  constructor(input: OwnDaemonInput) {
    this.#input = input;
  }

  /** `null` while the state file is not open. */
  get state(): StateStore | null {
    return this.#state;
  }

  /** Why the state file cannot be used; `null`: it can. */
  get trouble(): string | null {
    return this.#keeper?.trouble ?? null;
  }

  /** Locks the state file until `release`. Throws `SyncError`. */
  lock(): void {
    this.#lock = holdLock(this.#input.loaded().config.stateFile, 'the state file', SERVICE);
  }

  release(): void {
    this.#lock?.release();
    this.#lock = null;
  }

  /** Runs until a stop, and opens the state file again whenever it fails. Throws `SyncError`. */
  async run(): Promise<void> {
    const { loaded, log, stop } = this.#input;
    this.#keeper = new StateKeeper({
      stateFile: loaded().config.stateFile,
      wasAbandoned: this.#lock?.wasAbandoned === true,
      clock: systemClock,
      log,
      stop: stop.stop,
      regain: () => this.#regain(),
    });
    await this.#keeper.untilStopped((state) => this.#serve(state));
  }

  /** Takes the lock again if it went with the directory of the state file. */
  async #regain(): Promise<void> {
    if (this.#lock?.isInPlace() === true) return;
    this.release();
    this.lock();
    await this.#input.moved();
  }

  /** Runs a daemon until a stop. Throws `StateFileError`. */
  async #serve(state: StateStore): Promise<void> {
    this.#state = state;
    state.noteServiceAlive(Date.now());
    const beats = setInterval(() => {
      beatQuietly(state);
    }, BEAT_MS);
    this.#input.history.attach(state.history);
    const last = state.remote.verification();
    if (last !== null)
      this.#input.metrics.verified(last.finishedAtMs, (JSON.parse(last.summary) as Verified).reasons);
    try {
      await (this.#input.isInCluster() ? this.#keep(state) : this.#work(state));
    } finally {
      clearInterval(beats);
      beatQuietly(state);
      this.#input.history.attach(null);
      this.#state = null;
    }
  }

  /** In a cluster the units have daemons of their own: the state file only has the history of this host. */
  async #keep(state: StateStore): Promise<void> {
    const { stop } = this.#input.stop;
    while (!stop.aborted) {
      state.checkInPlace();
      await systemClock.sleep(LOOK_MS, stop);
    }
  }

  async #work(state: StateStore): Promise<void> {
    const { daemons, loaded, platform, stop, estimates } = this.#input;
    const holding = {
      ...localHolding(state, { config: () => loaded().config, clients: () => platform.access.clients }, stop),
      checkInPlace: () => {
        state.checkInPlace();
        if (this.#lock?.isInPlace() !== true)
          throw new StateFileError('unlocked', 'its lock file was removed or replaced');
      },
    };
    // The caller or the page shows how much the first pass will send.
    if (estimates || loaded().config.service.listen !== null)
      await runCounting(this.#input, holding, () => daemons.run(holding));
    else await daemons.run(holding);
  }
}

function beatQuietly(state: StateStore): void {
  try {
    state.noteServiceAlive(Date.now());
  } catch {
    // The daemon meets an error in the state file itself.
  }
}
