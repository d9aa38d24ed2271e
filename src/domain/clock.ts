/** The current time, replaceable in tests. */
export interface Clock {
  /** Wall clock, epoch milliseconds. It may jump. */
  readonly now: () => number;
  /** Milliseconds since an arbitrary moment; never goes back. For waits and rates. */
  readonly monotonic: () => number;
  /** Resolves after the delay in milliseconds, or as soon as the signal aborts: callers check the signal afterwards. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}
