import type { LoadedConfig } from '../../config/load-config.ts';
import type { Config } from '../../config/config.ts';
import type { Delivery } from '../../domain/delivery.ts';
import { Bell } from '../../service/bell.ts';
import type { Metrics } from '../../service/metrics.ts';
import { systemClock } from '../../service/system-clock.ts';
import { StateFileError } from '../../state/database.ts';
import type { StateStore } from '../../state/state-store.ts';
import type { Verified } from '../../sync/plan/verify.ts';
import type { EventFeed } from '../events.ts';
import type { HistoryRecorder } from '../history-recorder.ts';
import { platformName } from '../load.ts';
import { lookAtState } from '../notifier.ts';
import type { PlatformAccess } from '../platform/platform-access.ts';
import type { RunTarget } from '../run-target.ts';
import type { Stop } from '../stop.ts';
import type { ClusterPart } from './cluster-part.ts';
import { runCounting } from './counting.ts';
import { healthOf, type DaemonNotifier } from './daemon-notifier.ts';
import type { Daemons, DaemonView } from './daemons.ts';

/** How often a host without sources of its own looks whether it has some, milliseconds. */
const OWN_SOURCES_MS = 10_000;

/** What a daemon on the state file of this host is run with. What may change is asked for. */
export interface OwnDaemonInput {
  readonly target: RunTarget;
  /** Whether it is counted how much the first pass has to send. */
  readonly estimates: boolean;
  readonly stop: Stop;
  readonly feed: EventFeed;
  readonly history: HistoryRecorder;
  readonly daemons: Daemons;
  readonly notifier: DaemonNotifier;
  readonly loaded: () => LoadedConfig;
  /** This host's part in a cluster; `null`: no other host works with this one. */
  readonly cluster: () => Pick<ClusterPart, 'pinned' | 'hasRivals' | 'onDelivery'> | null;
  readonly metrics: () => Metrics | null;
  readonly access: () => PlatformAccess;
  /** The platform's time, epoch milliseconds. */
  readonly platformNow: () => number;
  /** What all daemons are doing; `null` while there are none. */
  readonly activities: () => DaemonView | null;
  /** Whether the process lock of the state file is this process's still. */
  readonly isLocked: () => boolean;
}

/** Runs the daemon for the sources that no other host works on, with the state file of this host. */
export class OwnDaemon {
  readonly #input: OwnDaemonInput;
  /** Rings when other sources may be this host's own. */
  readonly #bell = new Bell();
  #state: StateStore | null = null;

  constructor(input: OwnDaemonInput) {
    this.#input = input;
  }

  /** The state file; `null` while it is not open. */
  get state(): StateStore | null {
    return this.#state;
  }

  /** Other sources may be this host's own. */
  look(): void {
    this.#bell.ring();
  }

  /** Runs a daemon until a stop. Throws `StateFileError`. */
  async serve(state: StateStore): Promise<void> {
    this.#state = state;
    this.#input.history.attach(state.history);
    const last = state.remote.verification();
    if (last !== null)
      this.#input.metrics()?.verified(last.finishedAtMs, (JSON.parse(last.summary) as Verified).reasons);
    try {
      if (!(await this.#hasOwnSources(state))) return;
      await this.#runCounting(state, () =>
        this.#input.daemons.run({
          state,
          config: () => this.#ownConfig,
          clients: () => this.#input.access().clients,
          onDelivery: () => this.#onDelivery(state),
          checkInPlace: () => {
            state.checkInPlace();
            if (!this.#input.isLocked())
              throw new StateFileError('unlocked', 'its lock file was removed or replaced');
          },
          mayBeReplaced: () => this.#input.cluster()?.hasRivals === true,
          created: () => {
            // In a cluster one host tells people for all.
            if (this.#input.cluster() === null) this.#tellOf(state);
          },
          ...this.#input.stop,
        }),
      );
    } finally {
      if (this.#input.cluster() === null) await this.#input.notifier.detach();
      this.#input.history.attach(null);
      this.#state = null;
    }
  }

  /** With the sources that no other host works on. */
  get #ownConfig(): Config {
    return this.#input.cluster()?.pinned() ?? this.#input.loaded().config;
  }

  /** Resolves when this host has sources of its own, at once without a cluster. `false`: it was stopped before. */
  async #hasOwnSources(state: StateStore): Promise<boolean> {
    if (this.#input.cluster() === null) return true;
    const { stop } = this.#input.stop;
    while (!stop.aborted && this.#ownConfig.sources.length === 0) {
      state.checkInPlace();
      await this.#bell.wait(systemClock, OWN_SOURCES_MS, stop);
    }
    return !stop.aborted;
  }

  /** Whether somebody wants to know how much the first pass has to send, so that it is counted. */
  #runCounting(state: StateStore, run: () => Promise<void>): Promise<void> {
    const { target, estimates, platformNow, stop, feed } = this.#input;
    const config = this.#ownConfig;
    if (!estimates && config.service.listen === null) return run();
    const name = platformName(target, config);
    return runCounting({ config, platformName: name, state, platformNow, stop: stop.stop }, feed, run);
  }

  /** People are told from now on how the daemons fare. Throws `StateFileError`. */
  #tellOf(state: StateStore): void {
    const { notifier, activities, platformNow, metrics } = this.#input;
    notifier.attach({
      notices: state.notices,
      look: lookAtState(state, () => healthOf(activities()), platformNow),
      ended: (outcome) => {
        metrics()?.notificationEnded(outcome);
      },
    });
  }

  /** What takes note of the files that are to be announced; `null`: none are. */
  #onDelivery(state: StateStore): ((delivery: Delivery) => void) | null {
    const { cluster, notifier } = this.#input;
    const part = cluster();
    if (part !== null) return part.onDelivery(state);
    if (!notifier.announces) return null;
    return (delivery) => {
      notifier.delivered(delivery);
    };
  }
}
