import { isIPv4, isIPv6 } from 'node:net';
import { createHash, randomBytes } from 'node:crypto';

/** A visitor who signed in. */
export interface PageSession {
  /** Proves that a form came from a page of this session. */
  readonly csrfToken: string;
  /** The result of the last action, until it is shown. */
  notice: string | null;
}

/** One more session ends the one that was idle longest. */
const MOST_SESSIONS = 32;

/** Idle sessions end after this many milliseconds. */
const IDLE_MS = 30 * 60_000;

/** The sessions, in memory only: a restart ends them all. */
export class PageSessions {
  readonly #monotonic: () => number;
  /** By hash of the token; the one that was idle longest comes first. */
  readonly #sessions = new Map<string, { readonly session: PageSession; usedAtMs: number }>();

  /** @param monotonic - milliseconds that never go back. */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Begins a session and returns the token for the browser. */
  begin(): string {
    this.#endIdle();
    for (const key of this.#sessions.keys()) {
      if (this.#sessions.size < MOST_SESSIONS) break;
      this.#sessions.delete(key);
    }
    const token = randomToken();
    const session: PageSession = { csrfToken: randomToken(), notice: null };
    this.#sessions.set(keyOf(token), { session, usedAtMs: this.#monotonic() });
    return token;
  }

  /** Returns the session of a token and prolongs it; `null` without one. */
  use(token: string | null): PageSession | null {
    this.#endIdle();
    const key = keyOf(token ?? '');
    const found = this.#sessions.get(key);
    if (found === undefined) return null;
    found.usedAtMs = this.#monotonic();
    this.#sessions.delete(key);
    this.#sessions.set(key, found);
    return found.session;
  }

  /** Returns whether a token has a session, without prolonging it. */
  isOpen(token: string | null): boolean {
    this.#endIdle();
    return this.#sessions.has(keyOf(token ?? ''));
  }

  end(token: string): void {
    this.#sessions.delete(keyOf(token));
  }

  endAll(): void {
    this.#sessions.clear();
  }

  #endIdle(): void {
    const nowMs = this.#monotonic();
    for (const [key, { usedAtMs }] of this.#sessions) {
      if (nowMs - usedAtMs < IDLE_MS) break;
      this.#sessions.delete(key);
    }
  }
}

function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/** A lookup by hash takes equally long for any guess. */
function keyOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

export interface AttemptTerms {
  /** Attempts at once, after a time without any. */
  readonly burst: number;
  /** Then one attempt per this many milliseconds. */
  readonly everyMs: number;
  /** Clients counted separately; all others share the limit of one. */
  readonly clients: number;
}

/** Limits the attempts of each client. */
export class AttemptLimit {
  readonly #terms: AttemptTerms;
  readonly #monotonic: () => number;
  /** When a client may make a full burst again. */
  readonly #restedAtMs = new Map<string, number>();

  /** @param monotonic - milliseconds that never go back. */
  constructor(terms: AttemptTerms, monotonic: () => number) {
    this.#terms = terms;
    this.#monotonic = monotonic;
  }

  /** Returns how long a client has to wait before its next attempt, in milliseconds. `client`: its IP address. */
  waitMs(client: string): number {
    const { burst, everyMs } = this.#terms;
    const restedAtMs = this.#restedAtMs.get(this.#key(client)) ?? -Infinity;
    return Math.max(0, restedAtMs - this.#monotonic() - (burst - 1) * everyMs);
  }

  /** Counts an attempt. */
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

/** Returns the network of one client: an IPv4 address, or an IPv6 network of 64 bits. */
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
