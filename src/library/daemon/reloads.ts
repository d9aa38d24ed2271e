import type { LoadedConfig } from '../../config/load-config.ts';
import type { Log } from '../../service/logger.ts';
import type { ServiceManager } from '../../service/systemd-notify.ts';
import type { RunTarget } from '../run-target.ts';
import { sourceStack } from '../../service/source-stack.ts';
import { SyncError } from '../sync-error.ts';
import type { ConfigFiles } from './config-files.ts';
import { loadAgain } from './load-again.ts';

/** What reloads need from the daemon around them. */
export interface ReloadPorts {
  readonly options: RunTarget;
  readonly log: Log;
  readonly serviceManager: Pick<ServiceManager, 'reloading' | 'ready'>;
  readonly files: Pick<ConfigFiles, 'accept' | 'takenOver'>;
  /** Whether the service manager was told that the daemon is up. */
  readonly isReady: () => boolean;
  /** The configuration that holds. */
  readonly loaded: () => LoadedConfig;
  /** Goes on under another configuration. Throws `SyncError`; nothing has changed then. */
  readonly take: (next: LoadedConfig) => Promise<void>;
}

/** What came of a reload that somebody asked for. */
export interface ReloadOutcome {
  /** Why the configuration before goes on; `null`: the one on disk is in use. */
  readonly problem: string | null;
}

/** Reloads the configuration when somebody or a change on disk calls for it, one after the other. */
export class Reloads {
  readonly #ports: ReloadPorts;
  #isUp = false;
  #isWanted = false;
  #underWay: Promise<ReloadOutcome> = Promise.resolve({ problem: null });

  constructor(ports: ReloadPorts) {
    this.#ports = ports;
  }

  /** All is up: requests are carried out from now on. */
  begin(): void {
    this.#isUp = true;
  }

  /** Makes up for one that was called for too early. */
  makeUp(): void {
    if (this.#isWanted) void this.call();
  }

  /** Somebody calls for one. What comes before all is up is made up for then; while it goes down, nothing is reloaded. */
  call(): Promise<void> {
    this.#isWanted = !this.#isUp;
    return this.#isWanted ? Promise.resolve() : this.request(null);
  }

  /** Carries out no further request. */
  end(): void {
    this.#isUp = false;
  }

  /** Resolves when none is under way. */
  async settled(): Promise<void> {
    await this.#underWay;
  }

  /** Reloads after what is running. `changed`: the files that call for it; `null`: somebody did. */
  async request(changed: readonly string[] | null): Promise<void> {
    if (this.#isUp) this.#underWay = this.#underWay.then(() => this.#reload(changed));
    await this.#underWay;
  }

  /** Reloads as a signal does, and says what came of it. */
  async reloadNow(): Promise<ReloadOutcome> {
    if (!this.#isUp) return { problem: 'botsync is starting or stopping' };
    await this.request(null);
    return await this.#underWay;
  }

  /** Reads configuration and secrets again. What is wrong with them is told, and everything stays as it was. */
  async #reload(changed: readonly string[] | null): Promise<ReloadOutcome> {
    const { options, log, serviceManager, files, take } = this.#ports;
    const isReady = this.#ports.isReady();
    const before = this.#ports.loaded();
    if (isReady) serviceManager.reloading();
    log.info('reloading the configuration', {
      file: before.config.file,
      ...(changed !== null && { changed }),
    });
    try {
      if (changed === null) await files.accept();
      const next = loadAgain(options, before);
      await take(next);
      if (changed === null) log.info('the configuration was reloaded');
      else {
        const takenOver = files.takenOver(before, next, changed);
        log.info('configuration changed on disk: reloaded', { changed, takenOver });
      }
      if (isReady) serviceManager.ready('reloaded');
      return { problem: null };
    } catch (error) {
      // A defect is told as well, and ends neither the daemon nor its next reload.
      const reason = error instanceof SyncError ? error.message : sourceStack(error);
      log.error(`not reloaded, the previous configuration stays in use: ${reason}`);
      if (isReady) serviceManager.ready('not reloaded: the configuration is wrong');
      return { problem: reason };
    }
  }
}
