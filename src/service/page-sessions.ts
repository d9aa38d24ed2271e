import { createHash, randomBytes } from 'node:crypto';

/** Somebody who signed in. */
export interface PageSession {
  /** Proves that a form came from a page that this session was given. */
  readonly csrfToken: string;
  /** What the last action came to, until it was shown. */
  notice: string | null;
}

/** How many may be signed in; who was away longest has to go for one more. */
const MOST_SESSIONS = 32;

/** Who does nothing for so long is signed out, milliseconds. */
const IDLE_MS = 30 * 60_000;

/** Those who are signed in, in memory alone: a restart ends all sessions. */
export class PageSessions {
  readonly #monotonic: () => number;
  /** By hash of what the browser keeps, who was away longest first. */
  readonly #sessions = new Map<string, { readonly session: PageSession; usedAtMs: number }>();

  /** @param monotonic - milliseconds that never go back. */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Begins a session; returns the token that the browser is to keep. */
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

  /** The session of a token, which is in use thereby; `null`: there is none any more. */
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

  /** Whether a token still has a session; to ask does not prolong it. */
  isOpen(token: string | null): boolean {
    this.#endIdle();
    return this.#sessions.has(keyOf(token ?? ''));
  }

  /** Ends the session of a token. */
  end(token: string): void {
    this.#sessions.delete(keyOf(token));
  }

  /** Ends all sessions. */
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

/** A lookup by hash takes as long for any guess. */
function keyOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
