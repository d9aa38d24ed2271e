import type { ConfigurationInUse, ServiceState } from '../../domain/status.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import type { StateStore } from '../../store/state-store.ts';
import type { ClusterPort } from './cluster-port.ts';
import type { DaemonView, RunningDaemon } from './daemons.ts';
import type { ReloadOutcome } from '../api.ts';
import type { ObservedDaemon, DaemonSituation } from '../../sync/events.ts';

/** The daemons of a process and what they work with now: what answers are made of. */
export interface DaemonState {
  readonly service: ServiceState;
  readonly configuration: ConfigurationInUse;
  readonly loaded: LoadedConfig;
  /** All of them, as if they were one; `null` while there are none yet. */
  readonly daemon: DaemonView | null;
  /** One by one. */
  readonly running: readonly RunningDaemon[];
  /** The state file of this host; `null` while it is not open. */
  readonly state: StateStore | null;
  /** This host's part in a cluster; `null`: it is in none. */
  readonly cluster: ClusterPort | null;
  /** Why the state file cannot be used, while it cannot. */
  readonly trouble: string | null;
  /** Epoch milliseconds. */
  readonly lastSuccessMs: number | null;
  /** Reads the configuration and its secrets again; resolves once they are in use, or with why they are not. */
  readonly reload: () => Promise<ReloadOutcome>;
}

/**
 * What those who watch a daemon may ask of it.
 *
 * @param pausedForMs - how long the platform has asked us to wait from now, milliseconds.
 */
export function observedDaemon(
  daemonState: () => Pick<DaemonState, 'loaded' | 'daemon'>,
  pausedForMs: () => number,
): ObservedDaemon {
  return {
    get config() {
      return daemonState().loaded.config;
    },
    get situation() {
      const { daemon } = daemonState();
      return daemon && situationOf(daemon, pausedForMs);
    },
  };
}
function situationOf(daemon: NonNullable<DaemonState['daemon']>, pausedForMs: () => number): DaemonSituation {
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
