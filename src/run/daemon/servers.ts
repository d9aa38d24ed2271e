import type { Config } from '../../config/config.ts';
import { formatAddress } from '../../domain/listen-address.ts';
import type { Log } from '../../service/logger.ts';
import type { PageSite } from '../../service/page-site.ts';
import type { ControlPorts } from '../../service/status-routes.ts';
import { serveOnAddress, serveOnSocket, type StatusServer } from '../../service/status-server.ts';

/** Serves the socket of a daemon, and the address that the configuration names. */
export class DaemonServers {
  readonly #ports: ControlPorts;
  readonly #site: PageSite;
  readonly #log: Log;
  readonly #listens: (address: string) => void;
  #socket: StatusServer | null = null;
  #listening: { readonly wanted: string; readonly server: StatusServer } | null = null;

  /** @param listens - called with each address that is listened on. */
  constructor(
    ports: ControlPorts,
    site: PageSite,
    log: Log,
    listens: (address: string) => void = () => undefined,
  ) {
    this.#ports = ports;
    this.#site = site;
    this.#log = log;
    this.#listens = listens;
  }

  /** Listens where the configuration says. A failure is only logged. */
  async adjust({ stateFile, service }: Pick<Config, 'stateFile' | 'service'>): Promise<void> {
    if (this.#socket === null) {
      const attempt = await serveOnSocket(stateFile, this.#ports);
      if (attempt.kind === 'serving') this.#socket = attempt.server;
      else this.#log.warn(`botsync status and approve cannot reach this daemon: ${attempt.reason}`);
    }
    const wanted = service.listen === null ? null : formatAddress(service.listen);
    if (wanted === (this.#listening?.wanted ?? null)) return;
    await this.#listening?.server.close();
    this.#listening = null;
    if (wanted === null || service.listen === null) return;
    const attempt = await serveOnAddress(service.listen, this.#ports, this.#site);
    if (attempt.kind === 'failed') {
      this.#log.error(`service.listen: ${attempt.reason}; a reload retries`);
      return;
    }
    this.#listening = { wanted, server: attempt.server };
    this.#log.info('listening', { address: attempt.server.address });
    this.#listens(attempt.server.address);
  }

  /** Closes all servers. */
  async close(): Promise<void> {
    await this.#socket?.close();
    await this.#listening?.server.close();
    this.#site.close();
    this.#socket = null;
    this.#listening = null;
  }
}
