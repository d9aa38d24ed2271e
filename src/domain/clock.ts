/** Time, as an argument: tests bring their own. */
export interface Clock {
  /** Wall clock, epoch milliseconds. It may jump. */
  readonly now: () => number;
  /** Milliseconds since some moment; never goes back. For waits and rates. */
  readonly monotonic: () => number;
  /** Resolves after a delay in milliseconds, or as soon as the signal aborts: callers look at the signal afterwards. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}
