/** How a process is told to end. */
export interface StopSignals {
  /** Aborts with the first signal. */
  readonly stop: AbortSignal;
  /** Asks for a clean end, as the first signal does. Another call does nothing. */
  readonly request: (signal: string) => void;
  /** Stops listening. */
  readonly release: () => void;
}

/**
 * Listens for SIGINT and SIGTERM: the first asks for a clean end, a second one ends the process at once.
 *
 * @param onStop - called once, with the signal's name.
 * @param endNow - ends the process; its exit code is 130.
 */
export function listenForStop(onStop: (signal: string) => void, endNow: () => void): StopSignals {
  const stop = new AbortController();
  const request = (signal: string): void => {
    if (stop.signal.aborted) return;
    stop.abort();
    onStop(signal);
  };
  const handle = (signal: string): void => {
    if (stop.signal.aborted) endNow();
    else request(signal);
  };
  process.on('SIGINT', handle);
  process.on('SIGTERM', handle);
  return {
    stop: stop.signal,
    request,
    release: () => {
      process.off('SIGINT', handle);
      process.off('SIGTERM', handle);
    },
  };
}
