/** The two ways a run is ended from outside. */
export interface Stop {
  /** No new work. */
  readonly stop: AbortSignal;
  /** What is running is broken off. */
  readonly abort: AbortSignal;
}

/** How long what is running may go on after a stop, unless it is said otherwise, milliseconds. */
export const GRACE_MS = 10_000;

/** The longest wait that a timer takes, milliseconds; it takes a longer one for none. */
const LONGEST_TIMER_MS = 2_147_483_647;

/**
 * A stop as soon as one of some signals aborts; what is running is broken off some time later.
 *
 * @param graceMs - how long it may go on, milliseconds. The wait keeps no process alive.
 * @returns with it `release`, after which nothing is broken off any more.
 */
export function stopBy(
  signals: readonly (AbortSignal | undefined)[],
  graceMs = GRACE_MS,
): Stop & { readonly release: () => void } {
  const stop = new AbortController();
  const abort = new AbortController();
  let grace: NodeJS.Timeout | null = null;
  const given = signals.filter((signal) => signal !== undefined);
  const end = (): void => {
    if (stop.signal.aborted) return;
    stop.abort();
    grace = setTimeout(
      () => {
        abort.abort();
      },
      Math.min(graceMs, LONGEST_TIMER_MS),
    );
    grace.unref();
  };
  for (const signal of given) signal.addEventListener('abort', end);
  if (given.some(({ aborted }) => aborted)) end();
  return {
    stop: stop.signal,
    abort: abort.signal,
    release: () => {
      if (grace !== null) clearTimeout(grace);
      for (const signal of given) signal.removeEventListener('abort', end);
    },
  };
}
