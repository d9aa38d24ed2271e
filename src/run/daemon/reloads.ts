import type { LoadedConfig } from '../../config/load-config.ts';
import type { ServiceManager } from '../../service/systemd-notify.ts';
import type { ConfigurationInUse } from '../../domain/status.ts';
import { load, type RunBase, type RunTarget } from '../run-base.ts';
import { systemClock } from '../../service/system-clock.ts';
import { sourceStack } from '../../service/source-stack.ts';
import { problemOf, SyncError } from '../sync-error.ts';
import type { ReloadOutcome } from '../api.ts';
import { isDeepStrictEqual } from 'util';
import { type ClusterConfig, changedBlocks } from '../../config/config.ts';
import { secretFiles, type SecretFile } from '../../config/secrets.ts';
import { WatchedFiles } from '../../files/watched-files.ts';

/** Time for which a file must be unchanged before it is read, milliseconds. */
const SETTLE_MS = 500;

/** Interval for checking size and time of the files, milliseconds. */
const POLL_MS = 1000;

/** Interval for comparing contents, milliseconds: a change may leave size and time as they were. */
const COMPARE_MS = 60_000;

interface ReloadPorts extends Pick<RunBase, 'target' | 'env' | 'log'> {
  readonly serviceManager: Pick<ServiceManager, 'reloading' | 'ready'>;
  /** `contentKeyOf` the configuration file, from when or before it was read. */
  readonly content: string;
  /** Returns whether the service manager was notified that the daemon is ready. */
  readonly isReady: () => boolean;
  /** Returns the configuration in use. */
  readonly loaded: () => LoadedConfig;
  /** Applies another configuration. Throws `SyncError`; then the previous one stays in use. */
  readonly take: (next: LoadedConfig) => Promise<void>;
  /** Called after each reload. `isLoaded`: the configuration on disk is in use. */
  readonly ended: (isLoaded: boolean) => void;
}

/** Reloads the configuration on request or after a change on disk, one reload at a time. */
export class Reloads {
  readonly #ports: ReloadPorts;
  /** The configuration file and the files of its secrets. */
  readonly #files: WatchedFiles;
  #isUp = false;
  #loadedAtMs = Date.now();
  #problem: string | null = null;
  #underWay: Promise<ReloadOutcome> = Promise.resolve({ problem: null });

  constructor(ports: ReloadPorts) {
    this.#ports = ports;
    this.#files = new WatchedFiles({
      ...{ clock: systemClock, pollMs: POLL_MS, settleMs: SETTLE_MS, compareMs: COMPARE_MS },
      accepted: new Map([[ports.loaded().config.file, ports.content]]),
      changed: async (files) => {
        await this.request(files);
      },
    });
  }

  /** The configuration in use. */
  get configuration(): ConfigurationInUse {
    const { file } = this.#ports.loaded().config;
    return { file, loadedAt: new Date(this.#loadedAtMs).toISOString(), problem: this.#problem };
  }

  /** Follows the files of the configuration, before its secrets are read, which may fail. */
  async follow(): Promise<void> {
    await this.#follow(this.#ports.loaded());
  }

  /** Accepts requests from now on, and watches the files if `service.reloadOnChange` says so. */
  async begin(): Promise<void> {
    this.#isUp = true;
    await this.#adopt(this.#ports.loaded());
  }

  /** Rejects requests from now on. */
  end(): void {
    this.#isUp = false;
  }

  /** Stops watching, and resolves when no reload is running. */
  async close(): Promise<void> {
    try {
      await this.#files.stop();
    } finally {
      await this.#underWay;
    }
  }

  /** Reloads after any running reload. `changed`: the changed files; `null`: a person or program asked. */
  request(changed: readonly string[] | null): Promise<ReloadOutcome> {
    if (!this.#isUp) return Promise.resolve({ problem: 'botsync is starting or stopping' });
    // A rejected reload, for example because the log threw, must not block the next one.
    const reload = (): Promise<ReloadOutcome> => this.#reload(changed);
    const outcome = this.#underWay.then(reload, reload);
    this.#underWay = outcome;
    return outcome;
  }

  /** Reads configuration and secrets again. Logs what is wrong with them, and then changes nothing. */
  async #reload(changed: readonly string[] | null): Promise<ReloadOutcome> {
    const { target, log, serviceManager, take } = this.#ports;
    const isReady = this.#ports.isReady();
    const before = this.#ports.loaded();
    if (isReady) serviceManager.reloading();
    log.info('reloading the configuration', {
      file: before.config.file,
      ...(changed !== null && { changed }),
    });
    try {
      if (changed === null) await this.#files.accept();
      const next = loadAgain(target, before);
      await this.#follow(before, next);
      await take(next);
      await this.#adopt(next);
      this.#loadedAtMs = Date.now();
      this.#noteEnd(null);
      if (changed === null) log.info('the configuration was reloaded');
      else {
        const settings = this.#changedSettings(before, next, changed);
        if (settings.length > 0) log.info('configuration changed on disk: reloaded', { changed, settings });
        else log.info('configuration changed on disk: reloaded, and no setting differs', { changed });
      }
      if (isReady) serviceManager.ready('reloaded');
      return { problem: null };
    } catch (error) {
      // A defect is logged too, and ends neither the daemon nor later reloads.
      const reason = error instanceof SyncError ? error.message : sourceStack(error);
      this.#noteEnd(problemOf(error));
      log.error(`not reloaded, the previous configuration stays in use: ${reason}`);
      if (isReady) serviceManager.ready('not reloaded: the configuration is wrong');
      return { problem: reason };
    }
  }

  /** Returns the fields that differ between two configurations, and the fields of secrets whose files changed. */
  #changedSettings(before: LoadedConfig, after: LoadedConfig, files: readonly string[]): string[] {
    const secrets = this.#secretsOf(after).filter(({ path }) => files.includes(path));
    return [...changedBlocks(before.config, after.config), ...secrets.map(({ field }) => field)];
  }

  /** Follows only the files of this configuration. */
  async #adopt(loaded: LoadedConfig): Promise<void> {
    await this.#follow(loaded);
    if (loaded.config.service.reloadOnChange) this.#files.start();
    // Not awaited: this may run inside a `changed` call of the watch.
    else void this.#files.stop();
  }

  async #follow(...all: readonly LoadedConfig[]): Promise<void> {
    const files = all.flatMap((one) => [one.config.file, ...this.#secretsOf(one).map(({ path }) => path)]);
    await this.#files.follow([...new Set(files)]);
  }

  /** The embedded emulator needs no secrets. */
  #secretsOf({ config }: LoadedConfig): SecretFile[] {
    const { target, env } = this.#ports;
    return target.emulator ? [] : secretFiles(config, env);
  }

  #noteEnd(problem: string | null): void {
    this.#problem = problem;
    this.#ports.ended(problem === null);
  }
}

/** Loads the current configuration. Throws `SyncError`, also for changes that need a restart. */
export function loadAgain(options: RunTarget, before: LoadedConfig): LoadedConfig {
  const next = load(options);
  if (next.config.stateFile !== before.config.stateFile)
    throw needsRestart(next, 'stateFile', 'another one needs a restart');
  const field = changedClusterField(before.config.cluster, next.config.cluster);
  if (field !== null) throw needsRestart(next, field, 'a change of it needs a restart');
  if (options.emulator && botsOf(next) !== botsOf(before))
    throw needsRestart(next, 'botId', 'with --emulator, another bot needs a restart');
  return next;
}
function needsRestart({ file }: LoadedConfig, field: string, reason: string): SyncError {
  const place = `${file}: ${field}`;
  return new SyncError('configuration', { place, reason, message: `${place}: ${reason}` });
}

/**
 * Returns the first field of `cluster` that differs; `cluster` if only one configuration has the block. `host` may
 * change without the file, because it defaults to the name of the machine.
 */
function changedClusterField(before: ClusterConfig | null, after: ClusterConfig | null): string | null {
  if (before === null || after === null) return before === after ? null : 'cluster';
  const fields = Object.keys(FIELDS) as (keyof ClusterConfig)[];
  const changed = fields.find((name) => !isDeepStrictEqual(before[name], after[name]));
  return changed === undefined ? null : `cluster.${FIELDS[changed]}`;
}

/** Names in the file of the fields of `cluster`. */
const FIELDS: Readonly<Record<keyof ClusterConfig, string>> = {
  database: 'database',
  schema: 'schema',
  host: 'host',
  leaseMs: 'lease',
  suspectAfterMs: 'suspectAfter',
};

/** The bots that the embedded emulator has. */
function botsOf({ config }: LoadedConfig): string {
  return JSON.stringify(config.sources.map(({ botId }) => botId));
}
