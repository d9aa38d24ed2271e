import type { ConfigurationInUse, ServiceState } from '../../domain/status.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import type { StateStore } from '../../store/state-store.ts';
import type { ClusterPort } from './cluster-facts.ts';
import type { Daemons, RunningDaemon } from './daemons.ts';
import type { ReloadOutcome } from '../api.ts';
import type { ObservedDaemon, DaemonSituation } from '../../sync/events.ts';

/** The daemons of a process and what they currently work with. */
export interface DaemonState {
  readonly service: ServiceState;
  readonly configuration: ConfigurationInUse;
  readonly loaded: LoadedConfig;
  /** All daemons as one; `null` while there are none. */
  readonly daemon: Daemons | null;
  /** The daemons one by one. */
  readonly running: readonly RunningDaemon[];
  /** The state file of this host; `null` while it is not open. */
  readonly state: StateStore | null;
  /** `null`: without a cluster. */
  readonly cluster: ClusterPort | null;
  /** Why the state file cannot be used; `null`: it can. */
  readonly trouble: string | null;
  /** When everything was last in sync, epoch milliseconds. */
  readonly lastSuccessMs: number | null;
  /** Reloads the configuration and its secrets. Resolves once they are in use, or with the reason why not. */
  readonly reload: () => Promise<ReloadOutcome>;
}

/**
 * Creates the view of a daemon for observers.
 *
 * @param pausedForMs - remaining pause that the platform asked for, milliseconds.
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
