import type { DaemonSituation, ObservedDaemon } from '../observer.ts';
import type { DaemonState } from './answers.ts';

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
