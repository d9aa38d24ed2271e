import { realTimer } from '../service/system-clock.ts';

/** The signals that end a run. */
export interface Stop {
  /** No new work begins. */
  readonly stop: AbortSignal;
  /** Running work is cut off. */
  readonly abort: AbortSignal;
}

/** Default time that running work may continue after a stop, milliseconds. */
export const GRACE_MS = 10_000;

/** The maximum delay of a timer, milliseconds; longer ones fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

/**
 * Creates a stop that begins when one of some signals aborts, and cuts off running work later.
 *
 * @param graceMs - time until that, milliseconds. It keeps no process alive.
 * @returns also `release`, which cancels the cutting off.
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

/** Returns a signal that aborts when `stop` does, or with a reason for messages after `ms` without an answer. */
export function stopWithin(ms: number, stop: AbortSignal): AbortSignal {
  const patience = new AbortController();
  realTimer.after(ms, () => {
    patience.abort(`no answer within ${ms / 1000} s`);
  });
  return AbortSignal.any([stop, patience.signal]);
}
