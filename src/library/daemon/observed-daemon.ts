import type { DaemonStanding, ObservedDaemon } from '../observer.ts';
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
    get standing() {
      const { daemon } = daemonState();
      return daemon && standingOf(daemon, pausedForMs);
    },
  };
}

function standingOf(daemon: NonNullable<DaemonState['daemon']>, pausedForMs: () => number): DaemonStanding {
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
