import { beatMs } from '../../domain/lease.ts';
import { randomUUID, createHash } from 'node:crypto';
import type { HostNews } from '../../cluster/shared-ledger.ts';
import type { OtherHosts } from './other-hosts.ts';
import type { ClusterHost } from './open-cluster.ts';
import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';

interface HostNameInput extends Pick<ClusterHost, 'cluster' | 'clock' | 'log'> {
  /** See `machineOf`. */
  readonly machine: string;
  readonly otherHosts: OtherHosts;
}

/** The name of this host in its cluster, which only one process has at a time. */
export class HostName {
  /** Names this process: the machine and a random part. */
  readonly instance: string;
  readonly #input: HostNameInput;
  #holder: 'unknown' | 'this-process' | 'another-machine' = 'unknown';
  readonly #beganAtMs: number;
  #joinedAtMs: number | null = null;

  constructor(input: HostNameInput) {
    this.#input = input;
    this.#beganAtMs = input.clock.monotonic();
    this.instance = `${input.machine}:${randomUUID()}`;
  }

  get isOurs(): boolean {
    return this.#holder === 'this-process';
  }

  /** When the name was first taken, milliseconds of the monotonic clock; `null`: not yet. */
  get joinedAtMs(): number | null {
    return this.#joinedAtMs;
  }

  /** True if another machine had the name at the last attempt. */
  get isAnothers(): boolean {
    return this.#holder === 'another-machine';
  }

  /** True if another machine has had the name for longer than a dead one would. */
  get isMissedForLong(): boolean {
    const { clock, cluster } = this.#input;
    const { leaseMs } = cluster.config;
    return this.isAnothers && clock.monotonic() - this.#beganAtMs > leaseMs + beatMs(leaseMs);
  }

  /** Returns whether a process ran on this machine with this state file. Unless it is this process, it has ended. */
  wasHere(instance: string): boolean {
    return instance.startsWith(`${this.#input.machine}:`);
  }

  /**
   * Takes the name. Returns `false` if another machine has it and is not known to be silent. Throws `DatabaseError`.
   */
  async take(news: HostNews): Promise<boolean> {
    const { cluster, otherHosts, clock, log } = this.#input;
    const askedAtMs = clock.now();
    otherHosts.note(await cluster.membership.look(), askedAtMs);
    const other = otherHosts.view?.hosts.find(({ name }) => name === news.name);
    const isForeign = other !== undefined && !this.wasHere(other.instance);
    if (isForeign && otherHosts.silentMs(news.name) < cluster.config.leaseMs) {
      if (!this.isAnothers)
        log.warn(
          `a host of the name "${news.name}" takes part already, or did until now; botsync waits until it is silent`,
        );
      this.#holder = 'another-machine';
      return false;
    }
    this.#holder = 'unknown';
    await cluster.membership.join(news);
    this.#holder = 'this-process';
    this.#joinedAtMs ??= clock.monotonic();
    return true;
  }

  /** Records that the ledger does not have this process under the name any more. */
  lose(): void {
    this.#holder = 'unknown';
  }
}

/**
 * Returns an identifier of a machine since its last boot and a state file on it. A copy of a virtual machine differs
 * only in the boot: so a rebooted machine counts as another one, and waits until its name is free.
 *
 * @param boot - names the boot; `''`: the system has no such name.
 */
export function machineOf(stateFile: string, boot = textOf('/proc/sys/kernel/random/boot_id')): string {
  const parts = [hostname(), textOf('/etc/machine-id'), boot, stateFile, inodeOf(dirname(stateFile))];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}

function inodeOf(directory: string): string {
  const facts = statSync(directory, { throwIfNoEntry: false });
  return facts === undefined ? '' : `${facts.dev}:${facts.ino}`;
}
