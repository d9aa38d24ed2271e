import type { IncomingMessage } from 'node:http';
import {
  errorAnswer,
  storeError,
  usualErrorType,
  type OperationResult,
  type AnswerHeaders,
  type Surface,
} from './answer.ts';
import type { RateLimit } from './options.ts';

/** A lasting state of the platform as a whole; at most one of each kind at a time. */
export type Condition =
  /** Open connections are ended and new ones refused. */
  | { readonly kind: 'refused' }
  /** Every request is answered with this status; default 503. */
  | { readonly kind: 'unavailable'; readonly status?: number }
  /** The store reads this many bytes per second of all uploads together, by a real timer. */
  | { readonly kind: 'slow-store'; readonly bytesPerSecond: number }
  /** Replaces the limit that the emulator was started with. */
  | { readonly kind: 'rate-limit'; readonly rateLimit: RateLimit }
  | FileCondition;

/** A treatment of files by the platform; `keys` is a glob. */
export type FileCondition =
  /**
   * Lists show the files of `lagMs` ago, but nothing older than this condition; Infinity: the files as they are
   * now.
   */
  | { readonly kind: 'lagging-list'; readonly lagMs: number }
  /** An upsert of an existing key creates a new file with another id. */
  | { readonly kind: 'new-ids' }
  /** Files that were uploaded or searchable are pending again: all, or those that match `keys`. */
  | { readonly kind: 'pending-again'; readonly keys?: string }
  /** Quotas and the largest size are checked after the upload instead of at the upsert: upload_failed. */
  | { readonly kind: 'late-limits' }
  /** New content of these keys ends as upload_failed. */
  | { readonly kind: 'failing-uploads'; readonly keys: string; readonly reason: string }
  /** New content of these keys ends as indexing_failed if it is indexed. */
  | { readonly kind: 'failing-indexing'; readonly keys: string; readonly reason: string }
  /** New content is noticed this much later; until then the status stays upload_pending. Infinity: never. */
  | { readonly kind: 'slow-notice'; readonly delayMs: number }
  /** An update of a file's settings indexes it again. */
  | { readonly kind: 'updates-reindex' };

export interface ConditionPorts {
  /** Ends all connections and refuses new ones. */
  readonly close: () => Promise<void>;
  /** Listens again on the same port. */
  readonly open: () => Promise<void>;
  /** Lets lists lag; `null` ends that. */
  readonly lag: (lagMs: number | null) => void;
}

/** The conditions of the platform; unlike a fault, a condition lasts until it is cleared. */
export class Conditions {
  readonly #ports: ConditionPorts;
  readonly #usualLimiter: RateLimiter | null;
  #limiter: RateLimiter | null;
  #current = new Map<Condition['kind'], Condition>();
  /** When the slow store will have read everything received so far, in milliseconds of a monotonic clock. */
  #storeFreeAtMs = 0;
  /** Uploads that are paused for the slow store, with the timer that resumes each. */
  readonly #held = new Map<IncomingMessage, NodeJS.Timeout>();

  /** `rateLimit`: the limit without a condition. */
  constructor(ports: ConditionPorts, rateLimit: RateLimit | null) {
    this.#ports = ports;
    this.#usualLimiter = rateLimit === null ? null : new RateLimiter(rateLimit);
    this.#limiter = this.#usualLimiter;
  }

  get current(): readonly Condition[] {
    return [...this.#current.values()];
  }

  get<Kind extends Condition['kind']>(kind: Kind): Extract<Condition, { kind: Kind }> | null {
    const condition = this.#current.get(kind);
    return condition === undefined ? null : (condition as Extract<Condition, { kind: Kind }>);
  }

  /** Adds a condition, or replaces the one of its kind. */
  async set(condition: Condition): Promise<void> {
    const isNew = !this.#current.has(condition.kind);
    this.#current.set(condition.kind, condition);
    if (condition.kind === 'rate-limit') this.#limiter = new RateLimiter(condition.rateLimit);
    if (condition.kind === 'lagging-list') this.#ports.lag(condition.lagMs);
    if (condition.kind === 'refused' && isNew) await this.#ports.close();
  }

  /** Ends all conditions. */
  async clear(): Promise<void> {
    const wasRefused = this.#current.has('refused');
    this.#current.clear();
    this.#limiter = this.#usualLimiter;
    this.#storeFreeAtMs = 0;
    this.#ports.lag(null);
    for (const message of this.#held.keys()) this.#release(message);
    if (wasRefused) await this.#ports.open();
  }

  /** Ends the condition `unavailable`; the others stay. */
  endOutage(): void {
    this.#current.delete('unavailable');
  }

  /** Returns the answer that every request gets during an outage, or null. */
  outage(surface: Surface): OperationResult | null {
    const outage = this.get('unavailable');
    if (outage === null) return null;
    const { status = 503 } = outage;
    const message = 'The platform is not available';
    if (surface !== 'store') return errorAnswer(status, usualErrorType(status), message);
    return storeError(status, status === 503 ? 'SlowDown' : usualErrorType(status), message);
  }

  /** Counts one request against the rate limit; returns null without one. `now`: epoch ms. */
  admit(surface: Surface, now: number): RateVerdict | null {
    const isLimited = surface !== 'store' && surface !== 'page';
    return isLimited ? (this.#limiter?.admit(now) ?? null) : null;
  }

  /** Reads the body of an upload no faster than the slow store; must be called when reading begins. */
  slow(surface: Surface, message: IncomingMessage): void {
    const slow = this.#current.get('slow-store');
    if (surface !== 'store' || slow?.kind !== 'slow-store') return;
    const release = (): void => {
      this.#release(message);
    };
    message.once('close', release);
    message.on('data', (chunk: Buffer) => {
      if (this.#current.get('slow-store') !== slow) return;
      const nowMs = performance.now();
      this.#storeFreeAtMs =
        Math.max(this.#storeFreeAtMs, nowMs) + (chunk.length / slow.bytesPerSecond) * 1000;
      message.pause();
      this.#held.set(message, setTimeout(release, this.#storeFreeAtMs - nowMs));
    });
  }

  #release(message: IncomingMessage): void {
    clearTimeout(this.#held.get(message));
    this.#held.delete(message);
    message.resume();
  }
}

export interface RateVerdict {
  readonly allowed: boolean;
  /** For every answer. */
  readonly headers: AnswerHeaders;
  /** For refusals, in addition. */
  readonly refusalHeaders: AnswerHeaders;
}

/** Counts requests in windows, fixed or sliding. Source: platform-facts.md, Rate limits. */
export class RateLimiter {
  readonly #limit: RateLimit;
  /** The requests that count now: when they came (fixed: when their window began), oldest first. */
  #counted: number[] = [];

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  /** Counts one request at `now` (epoch ms). */
  admit(now: number): RateVerdict {
    const { requests, windowMs, window = 'fixed', tells = 'all' } = this.#limit;
    this.#counted = this.#counted.filter((from) => now < from + windowMs);
    const allowed = this.#counted.length < requests;
    if (allowed) this.#counted.push(window === 'sliding' ? now : (this.#counted[0] ?? now));
    const oldest = this.#counted[0] ?? now;
    const resetSeconds = String(Math.ceil((oldest + windowMs - now) / 1000));
    return {
      allowed,
      headers:
        tells === 'all'
          ? {
              'RateLimit-Limit': String(requests),
              'RateLimit-Remaining': String(requests - this.#counted.length),
              'RateLimit-Reset': resetSeconds,
            }
          : {},
      refusalHeaders: tells === 'nothing' ? {} : { 'Retry-After': resetSeconds },
    };
  }
}
