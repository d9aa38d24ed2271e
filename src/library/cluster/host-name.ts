import { randomUUID } from 'node:crypto';
import type { HostNews } from '../../cluster/membership.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../service/logger.ts';
import type { Neighbours } from './neighbours.ts';
import type { Cluster } from './open-cluster.ts';

/** What a host's name is taken with. */
export interface HostNameInput {
  readonly cluster: Pick<Cluster, 'config' | 'membership'>;
  /** Tells this machine and its state file from all others: a process that ended there cannot come back. */
  readonly machine: string;
  readonly neighbours: Neighbours;
  readonly clock: Clock;
  readonly log: Log;
}

/** The name of this host in its cluster, which one process has at a time. */
export class HostName {
  /** This process. */
  readonly instance: string;
  readonly #input: HostNameInput;
  #isOurs = false;
  #joinedAtMs: number | null = null;
  #isAnothers = false;

  constructor(input: HostNameInput) {
    this.#input = input;
    this.instance = `${input.machine}:${randomUUID()}`;
  }

  /** Whether this process has it. */
  get isOurs(): boolean {
    return this.#isOurs;
  }

  /** When it was taken first, by the monotonic clock; `null`: it was not yet. */
  get joinedAtMs(): number | null {
    return this.#joinedAtMs;
  }

  /** Whether another machine had it when this one wanted it last. */
  get isAnothers(): boolean {
    return this.#isAnothers;
  }

  /** Whether a process was one of this machine and its state file: it has ended then. */
  wasHere(instance: string): boolean {
    return instance.startsWith(`${this.#input.machine}:`);
  }

  /** Takes it. `false`: another machine has it, and lives as far as is known. Throws `DatabaseError`. */
  async take(news: HostNews): Promise<boolean> {
    const { cluster, neighbours, clock, log } = this.#input;
    const askedAtMs = clock.now();
    neighbours.note(await cluster.membership.look(), askedAtMs);
    const other = neighbours.view?.hosts.find(({ name }) => name === news.name);
    const isForeign = other !== undefined && !this.wasHere(other.instance);
    if (isForeign && neighbours.silentMs(news.name) < cluster.config.leaseMs) {
      if (!this.#isAnothers)
        log.warn(
          `a host of the name "${news.name}" takes part already, or did until now; botsync waits until it is silent`,
        );
      this.#isAnothers = true;
      return false;
    }
    this.#isAnothers = false;
    await cluster.membership.join(news);
    this.#isOurs = true;
    this.#joinedAtMs ??= clock.monotonic();
    return true;
  }

  /** The ledger has another process under it, or nobody. */
  lose(): void {
    this.#isOurs = false;
  }
}
