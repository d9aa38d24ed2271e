import type { LoadedConfig } from '../../config/load-config.ts';
import type { Log } from '../../service/logger.ts';
import type { ServiceManager } from '../../service/systemd-notify.ts';
import type { RunTarget } from '../run-target.ts';
import { sourceStack } from '../../service/source-stack.ts';
import { SyncError } from '../sync-error.ts';
import type { ConfigFiles } from './config-files.ts';
import type { ReloadOutcome } from '../api.ts';
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

/** Reloads the configuration when somebody or a change on disk calls for it, one after the other. */
export class Reloads {
  readonly #ports: ReloadPorts;
  #isUp = false;
  #underWay: Promise<ReloadOutcome> = Promise.resolve({ problem: null });

  constructor(ports: ReloadPorts) {
    this.#ports = ports;
  }

  /** All is up: requests are carried out from now on. */
  begin(): void {
    this.#isUp = true;
  }

  /** Carries out no further request. */
  end(): void {
    this.#isUp = false;
  }

  /** Resolves when none is under way. */
  async settled(): Promise<void> {
    await this.#underWay;
  }

  /** Reloads after what is running, and says what came of it. `changed`: the files that call for it; `null`: somebody did. */
  request(changed: readonly string[] | null): Promise<ReloadOutcome> {
    if (!this.#isUp) return Promise.resolve({ problem: 'botsync is starting or stopping' });
    // One that failed, as its log did, keeps no other from its turn.
    const reload = (): Promise<ReloadOutcome> => this.#reload(changed);
    const outcome = this.#underWay.then(reload, reload);
    this.#underWay = outcome;
    return outcome;
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
