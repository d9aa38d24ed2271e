/** The two ways a run is ended from outside. */
export interface StopSignals {
  /** No new work. */
  readonly stop: AbortSignal;
  /** What is under way is broken off. */
  readonly abort: AbortSignal;
  /** Stops listening. */
  readonly release: () => void;
}

/** How long what is under way may go on after the first signal, milliseconds. */
export const GRACE_MS = 10_000;

/**
 * Listens for SIGINT and SIGTERM: the first asks for a clean end, a second one ends the process at once.
 *
 * @param onStop - called once, with the signal's name.
 * @param endNow - ends the process; its exit code is 130.
 */
export function listenForStop(onStop: (signal: string) => void, endNow: () => void): StopSignals {
  const stop = new AbortController();
  const abort = new AbortController();
  let grace: NodeJS.Timeout | null = null;
  const handle = (signal: string): void => {
    if (stop.signal.aborted) {
      endNow();
      return;
    }
    stop.abort();
    grace = setTimeout(() => {
      abort.abort();
    }, GRACE_MS);
    grace.unref();
    onStop(signal);
  };
  process.on('SIGINT', handle);
  process.on('SIGTERM', handle);
  return {
    stop: stop.signal,
    abort: abort.signal,
    release: () => {
      if (grace !== null) clearTimeout(grace);
      process.off('SIGINT', handle);
      process.off('SIGTERM', handle);
    },
  };
}
