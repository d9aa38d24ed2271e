import { isIPv4, isIPv6 } from 'node:net';

/** How often something may be tried. */
export interface AttemptTerms {
  /** So often at once, after a time of rest. */
  readonly burst: number;
  /** Then once in so many milliseconds. */
  readonly everyMs: number;
  /** So many clients are told apart; those beyond share what one has. */
  readonly clients: number;
}

/** Limits how often each client may try something. */
export class AttemptLimit {
  readonly #terms: AttemptTerms;
  readonly #monotonic: () => number;
  /** When the attempts of a client are made up for. */
  readonly #restedAtMs = new Map<string, number>();

  /** @param monotonic - milliseconds that never go back. */
  constructor(terms: AttemptTerms, monotonic: () => number) {
    this.#terms = terms;
    this.#monotonic = monotonic;
  }

  /** How long a client has to wait before it may try, milliseconds. `client`: its IP address. */
  waitMs(client: string): number {
    const { burst, everyMs } = this.#terms;
    const restedAtMs = this.#restedAtMs.get(this.#key(client)) ?? -Infinity;
    return Math.max(0, restedAtMs - this.#monotonic() - (burst - 1) * everyMs);
  }

  /** An attempt was made. */
  note(client: string): void {
    const key = this.#key(client);
    const nowMs = this.#monotonic();
    this.#restedAtMs.set(key, Math.max(this.#restedAtMs.get(key) ?? nowMs, nowMs) + this.#terms.everyMs);
  }

  #key(client: string): string {
    const key = networkOf(client);
    if (this.#restedAtMs.has(key) || this.#restedAtMs.size < this.#terms.clients) return key;
    const nowMs = this.#monotonic();
    for (const [one, restedAtMs] of this.#restedAtMs) if (restedAtMs <= nowMs) this.#restedAtMs.delete(one);
    return this.#restedAtMs.size < this.#terms.clients ? key : 'others';
  }
}

/** What one client has to itself: an address, or of IPv6 the network of 64 bits. */
function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/iu.exec(address)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? [];
  const groups = head.split(':').filter((group) => group !== '');
  const missing =
    tail === undefined ? 0 : 8 - groups.length - tail.split(':').filter((group) => group !== '').length;
  const all = [...groups, ...Array<string>(missing).fill('0'), ...(tail ?? '').split(':')];
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
