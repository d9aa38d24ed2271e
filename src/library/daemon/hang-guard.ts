import type { Config } from '../../config/config.ts';
import { HangWatch } from '../../service/hang-watch.ts';
import type { Log } from '../../service/logger.ts';

/** Ends a daemon that a file system hangs, after as long as the configuration says. */
export class HangGuard {
  readonly #log: Log;
  #current: { readonly timeoutMs: number; readonly watch: HangWatch } | null = null;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Goes on as a configuration says. */
  async adjust({ service }: Pick<Config, 'service'>): Promise<void> {
    const timeoutMs = service.hangTimeoutMs;
    if (timeoutMs === this.#current?.timeoutMs) return;
    await this.#current?.watch.close();
    const thread = new URL('../chunks/hang-watch-thread.js', import.meta.url);
    const watch = new HangWatch(thread, timeoutMs, (reason) => {
      this.#log.warn('a hanging file system would not be noticed', { reason });
    });
    this.#current = { timeoutMs, watch };
  }

  /** Ends it. */
  async close(): Promise<void> {
    await this.#current?.watch.close();
  }
}
