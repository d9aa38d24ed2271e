import { changedBlocks } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { secretFiles, type SecretFile } from '../../config/secrets.ts';
import type { Clock } from '../../domain/clock.ts';
import { WatchedFiles } from '../../files/watched-files.ts';

/** Time for which a file must be unchanged before it is read, milliseconds. */
const SETTLE_MS = 500;

/** Interval for checking size and time of the files, milliseconds. */
const POLL_MS = 1000;

/** Interval for comparing contents, milliseconds: a change may leave size and time as they were. */
const COMPARE_MS = 60_000;

export interface ConfigFilesOptions {
  readonly clock: Clock;
  /** True if files of secrets are read; the embedded emulator needs none. */
  readonly readsSecrets: boolean;
  /** Contains `CREDENTIALS_DIRECTORY`. */
  readonly env: NodeJS.ProcessEnv;
  /** `contentKeyOf` the configuration file, from when or before `loaded` was read. */
  readonly content: string;
  /** Called when files differ from what was read. */
  readonly changed: (files: readonly string[]) => Promise<void>;
}

/** Watches the configuration file and the files of its secrets for changes. */
export class ConfigFiles {
  readonly #readsSecrets: boolean;
  readonly #env: NodeJS.ProcessEnv;
  readonly #files: WatchedFiles;
  /** The configuration in use, and possibly its candidate successor. */
  #followed: readonly LoadedConfig[];

  constructor({ clock, readsSecrets, env, content, changed }: ConfigFilesOptions, loaded: LoadedConfig) {
    this.#readsSecrets = readsSecrets;
    this.#env = env;
    this.#followed = [loaded];
    this.#files = new WatchedFiles({
      clock,
      pollMs: POLL_MS,
      settleMs: SETTLE_MS,
      compareMs: COMPARE_MS,
      accepted: new Map([[loaded.config.file, content]]),
      changed,
    });
  }

  /** Accepts the current contents, which are about to be read, as known. */
  accept(): Promise<void> {
    return this.#files.accept();
  }

  /** Follows the files of another configuration too, before its secrets are read, which may fail. */
  async followAlso(next: LoadedConfig): Promise<void> {
    await this.#follow([...this.#followed.slice(0, 1), next]);
  }

  /** Follows only the files of this configuration, and watches them if `service.reloadOnChange` says so. */
  async adopt(loaded: LoadedConfig): Promise<void> {
    await this.#follow([loaded]);
    if (loaded.config.service.reloadOnChange) this.#files.start();
    // Not awaited: this may run inside a `changed` call of the watch.
    else void this.#files.stop();
  }

  /** Returns the fields that differ between two configurations, and the fields of secrets whose files changed. */
  takenOver(before: LoadedConfig, after: LoadedConfig, files: readonly string[]): string[] {
    const secrets = this.#secretsOf(after).filter(({ path }) => files.includes(path));
    return [...changedBlocks(before.config, after.config), ...secrets.map(({ field }) => field)];
  }

  /** Stops watching. */
  close(): Promise<void> {
    return this.#files.stop();
  }

  async #follow(all: readonly LoadedConfig[]): Promise<void> {
    this.#followed = all;
    const files = all.flatMap((one) => [one.config.file, ...this.#secretsOf(one).map(({ path }) => path)]);
    await this.#files.follow([...new Set(files)]);
  }

  #secretsOf({ config }: LoadedConfig): SecretFile[] {
    return this.#readsSecrets ? secretFiles(config, this.#env) : [];
  }
}
