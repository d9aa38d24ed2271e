import { changedBlocks } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { secretFiles, type SecretFile } from '../../config/secrets.ts';
import type { Clock } from '../../domain/clock.ts';
import { WatchedFiles } from '../../files/watched-files.ts';

/** Files have to be unchanged for so long before they are read, milliseconds. */
const SETTLE_MS = 500;

/** How often their size and time are looked at, milliseconds. */
const POLL_MS = 1000;

/** How often their contents are compared, for changes that leave size and time as they were, milliseconds. */
const COMPARE_MS = 60_000;

/** What watching the files of a configuration needs from outside. */
export interface ConfigFilesOptions {
  readonly clock: Clock;
  /** Whether files of secrets are read at all; the embedded emulator needs none. */
  readonly readsSecrets: boolean;
  /** Where `CREDENTIALS_DIRECTORY` is named. */
  readonly env: NodeJS.ProcessEnv;
  /** What the configuration file held when `loaded` was read, or before: see `contentKeyOf`. */
  readonly content: string;
  /** These files hold something else than when they were read. */
  readonly changed: (files: readonly string[]) => Promise<void>;
}

/** The configuration file and those of its secrets: what was read of them, and whether that has changed. */
export class ConfigFiles {
  readonly #readsSecrets: boolean;
  readonly #env: NodeJS.ProcessEnv;
  readonly #files: WatchedFiles;
  /** Of the configurations that were followed last. */
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

  /** The files are about to be read again: what they hold now is no change any more. */
  accept(): Promise<void> {
    return this.#files.accept();
  }

  /** The secrets of another configuration are about to be read, which may fail: its files are followed as well. */
  async followAlso(next: LoadedConfig): Promise<void> {
    await this.#follow([...this.#followed.slice(0, 1), next]);
  }

  /** Goes on with the files of a configuration alone, and watches them if it says so. */
  async adopt(loaded: LoadedConfig): Promise<void> {
    await this.#follow([loaded]);
    if (loaded.config.service.reloadOnChange) this.#files.start();
    // Not waited for: this may run in the midst of a change that it tells of.
    else void this.#files.stop();
  }

  /** The fields that another configuration, or one of these files, changed. */
  takenOver(before: LoadedConfig, after: LoadedConfig, files: readonly string[]): string[] {
    const secrets = this.#secretsOf(after).filter(({ path }) => files.includes(path));
    return [...changedBlocks(before.config, after.config), ...secrets.map(({ field }) => field)];
  }

  /** Ends the watching. */
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
