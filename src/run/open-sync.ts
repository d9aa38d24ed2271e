import { listenerOf } from './observer.ts';
import type { Emit } from '../sync/events.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import type { Log } from '../service/logger.ts';
import type { OpenOptions, Sync, SyncDaemon } from './api.ts';
import type { DaemonRun } from './daemon/daemon-run.ts';
import { EventFeed, EVENTS_WAITING } from './events.ts';
import { load, type RunBase } from './run-base.ts';
import { stopBy, type Stop } from './stop.ts';
import { SyncError } from './sync-error.ts';

const DEFAULT_CONFIG = 'botsync.config.json';

/**
 * Opens a configuration. Reads only the configuration; the runs open the state file and connections. Throws `SyncError`
 * of code `configuration` with everything that is wrong with it.
 *
 * @example
 * ```ts
 * import { openSync } from 'botsync';
 *
 * const sync = openSync({ config: 'botsync.config.json' });
 * try {
 *   const { outcome, summary } = await sync.pass();
 *   if (outcome !== 'in-sync') console.error(`${summary.failed} files failed`);
 *
 *   const daemon = await sync.start();
 *   for await (const event of sync.events()) {
 *     if (event.kind === 'file') console.log(event.file.kind, event.file.key);
 *     if (event.kind === 'refused') break;
 *   }
 *   await daemon.stop();
 * } finally {
 *   await sync.close(); // or `await using sync = openSync(…)`, where the language has it
 * }
 * ```
 */
export function openSync(options: OpenOptions = {}): Sync {
  const { observer } = options;
  return openSyncFor(options, observer === undefined ? [] : [listenerOf(observer)]);
}

/** `openSync` with listeners instead of an observer. */
export function openSyncFor(options: Omit<OpenOptions, 'observer'>, listeners: readonly Emit[]): Sync {
  // eslint-disable-next-line no-restricted-properties -- The one place: nobody handed in another environment.
  const { config = DEFAULT_CONFIG, emulator = false, env = process.env, log = SILENT } = options;
  const target = { config, emulator };
  const loaded = load(target);
  const feed = new EventFeed(listeners);
  return new OpenedSync({ target, env, log, feed }, loaded, options);
}

class OpenedSync implements Sync {
  readonly #base: RunBase;
  readonly #loaded: LoadedConfig;
  readonly #signal: AbortSignal | undefined;
  readonly #graceMs: number | undefined;
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(base: RunBase, loaded: LoadedConfig, { signal, graceMs }: OpenOptions) {
    this.#base = base;
    this.#loaded = loaded;
    this.#signal = signal;
    this.#graceMs = graceMs;
  }

  get configFile(): string {
    return this.#loaded.config.file;
  }

  get warnings(): Sync['warnings'] {
    return this.#loaded.warnings;
  }

  pass: Sync['pass'] = (options = {}) =>
    this.#run([options.signal], async (stop) => {
      const { passOnce } = await import('./once/once-run.ts');
      return await passOnce(this.#base, this.#loaded, options, stop);
    });

  plan: Sync['plan'] = (options = {}) =>
    this.#run([options.signal], async (stop) => {
      const { planPass } = await import('./plan-pass.ts');
      return await planPass(this.#base, this.#loaded, options, stop);
    });

  verify: Sync['verify'] = (options = {}) =>
    this.#run([options.signal], async (stop) => {
      const { verify } = await import('./verify/verify-run.ts');
      return await verify(this.#base, this.#loaded, options, stop);
    });

  start: Sync['start'] = async (options = {}) => {
    const stopping = new AbortController();
    let isUp: (run: DaemonRun) => void = () => undefined;
    const up = new Promise<DaemonRun>((resolve) => (isUp = resolve));
    const task = async (stop: Stop): Promise<void> => {
      const { runDaemon } = await import('./daemon/daemon-run.ts');
      await runDaemon(this.#base, options, stop, isUp);
    };
    const stopped = this.#run([options.signal, stopping.signal], task);
    // Before it is up, a run ends only with an error.
    const run = await Promise.race([up, stopped.then(() => up)]);
    return daemonOf(run, stopped, () => {
      stopping.abort();
    });
  };

  events: Sync['events'] = ({ capacity = EVENTS_WAITING } = {}) => this.#base.feed.events(capacity);

  close = async (): Promise<void> => {
    this.#closing.abort();
    await Promise.allSettled(this.#underWay);
    this.#base.feed.close();
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Runs a task until one of the signals aborts; `close` waits for it. */
  #run<T>(signals: readonly (AbortSignal | undefined)[], task: (stop: Stop) => Promise<T>): Promise<T> {
    const run = this.#stoppable(signals, task).finally(() => this.#underWay.delete(run));
    this.#underWay.add(run);
    return run;
  }

  async #stoppable<T>(
    signals: readonly (AbortSignal | undefined)[],
    task: (stop: Stop) => Promise<T>,
  ): Promise<T> {
    if (this.#closing.signal.aborted)
      throw new SyncError('usage', { reason: 'this sync is closed', fix: 'open another one' });
    const stop = stopBy([this.#closing.signal, this.#signal, ...signals], this.#graceMs);
    try {
      return await task(stop);
    } finally {
      stop.release();
    }
  }
}

function daemonOf(run: DaemonRun, stopped: Promise<void>, abort: () => void): SyncDaemon {
  // A caller may never read `stopped`: a rejection must not be unhandled.
  stopped.catch(() => undefined);
  const stop = (): Promise<void> => {
    abort();
    return stopped;
  };
  return {
    stopped,
    stop,
    reload: () => run.reload(),
    approve: (source) => {
      const { approved, missing } = run.approve(source);
      return { approved, missing };
    },
    get impediments() {
      return run.answers.impediments;
    },
    status: () => run.answers.status(),
    [Symbol.asyncDispose]: stop,
  };
}

const SILENT: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
