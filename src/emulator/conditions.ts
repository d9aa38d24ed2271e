import type { IncomingMessage } from 'node:http';
import { refuse, refuseAtStore, usualErrorType, type OperationResult } from './answer.ts';
import type { Surface } from './operation.ts';
import type { RateLimit } from './options.ts';
import { RateLimiter, type RateVerdict } from './rate-limiter.ts';

/** A condition that the platform as a whole is in, for tests; one of each kind at a time. */
export type Condition =
  /** Nobody listens, and the connections that there were are gone. */
  | { readonly kind: 'refused' }
  /** Everything is answered with this status; default 503. */
  | { readonly kind: 'unavailable'; readonly status?: number }
  /** The store reads so many bytes a second of all uploads together, by a real timer. */
  | { readonly kind: 'slow-store'; readonly bytesPerSecond: number }
  /** Instead of the limit that the emulator was started with. */
  | { readonly kind: 'rate-limit'; readonly rateLimit: RateLimit }
  | FileCondition;

/** A condition of how the platform deals with files; a glob is of keys. */
export type FileCondition =
  /** Lists show what was there so long ago, and from now on what comes to be; Infinity: what is there now, for good. */
  | { readonly kind: 'lagging-list'; readonly lagMs: number }
  /** An upsert of a key that exists makes a new file of another id in its place. */
  | { readonly kind: 'new-ids' }
  /** Files that were uploaded or searchable are pending again, all of them or those of a glob. */
  | { readonly kind: 'pending-again'; readonly keys?: string }
  /** Quotas and the largest size are looked at when the content is there, and not at the upsert: upload_failed. */
  | { readonly kind: 'late-limits' }
  /** Content that arrives for these keys ends as upload_failed. */
  | { readonly kind: 'failing-uploads'; readonly keys: string; readonly reason: string }
  /** Content that arrives for these keys ends as indexing_failed, where it is to be indexed. */
  | { readonly kind: 'failing-indexing'; readonly keys: string; readonly reason: string }
  /** Content that arrives is noticed so much later: the status stays upload_pending; Infinity: for good. */
  | { readonly kind: 'slow-notice'; readonly delayMs: number }
  /** A change of a file's facts has the file indexed again. */
  | { readonly kind: 'updates-reindex' };

/** What conditions do to the server and its data. */
export interface ConditionPorts {
  /** Ends the connections and takes no new ones. */
  readonly close: () => Promise<void>;
  /** Listens again where it did. */
  readonly open: () => Promise<void>;
  /** From now on lists lag behind, or (null) do not any more. */
  readonly lag: (lagMs: number | null) => void;
}

/** What the platform as a whole is like: unlike a fault, a condition lasts until it is cleared. */
export class Conditions {
  readonly #ports: ConditionPorts;
  readonly #usualLimiter: RateLimiter | null;
  #limiter: RateLimiter | null;
  #current = new Map<Condition['kind'], Condition>();
  /** When the slow store will have read what came so far, milliseconds of a monotonic clock. */
  #storeFreeAtMs = 0;
  /** Lets go of the uploads that the slow store does not read just now. */
  readonly #held = new Map<IncomingMessage, NodeJS.Timeout>();

  /** `rateLimit`: the limit while no condition says another. */
  constructor(ports: ConditionPorts, rateLimit: RateLimit | null) {
    this.#ports = ports;
    this.#usualLimiter = rateLimit === null ? null : new RateLimiter(rateLimit);
    this.#limiter = this.#usualLimiter;
  }

  /** Whether the platform is as it usually is. */
  get areUsual(): boolean {
    return this.#current.size === 0;
  }

  /** All conditions that the platform is in. */
  get current(): readonly Condition[] {
    return [...this.#current.values()];
  }

  /** The condition of a kind that the platform is in, or null. */
  get<Kind extends Condition['kind']>(kind: Kind): Extract<Condition, { kind: Kind }> | null {
    const condition = this.#current.get(kind);
    return condition === undefined ? null : (condition as Extract<Condition, { kind: Kind }>);
  }

  /** From now on the platform is in this condition, besides those of other kinds. */
  async set(condition: Condition): Promise<void> {
    const isNew = !this.#current.has(condition.kind);
    this.#current.set(condition.kind, condition);
    if (condition.kind === 'rate-limit') this.#limiter = new RateLimiter(condition.rateLimit);
    if (condition.kind === 'lagging-list') this.#ports.lag(condition.lagMs);
    if (condition.kind === 'refused' && isNew) await this.#ports.close();
  }

  /** The platform is as it usually is, from now on. */
  async clear(): Promise<void> {
    const wasRefused = this.#current.has('refused');
    this.#current.clear();
    this.#limiter = this.#usualLimiter;
    this.#storeFreeAtMs = 0;
    this.#ports.lag(null);
    for (const message of this.#held.keys()) this.#release(message);
    if (wasRefused) await this.#ports.open();
  }

  /** Everything is answered as usual again; the other conditions stay. */
  endOutage(): void {
    this.#current.delete('unavailable');
  }

  /** The answer that everything gets at present, or null. */
  outage(surface: Surface): OperationResult | null {
    const outage = this.get('unavailable');
    if (outage === null) return null;
    const { status = 503 } = outage;
    const message = 'The platform is not available';
    if (surface !== 'store') return refuse(status, usualErrorType(status), message);
    return refuseAtStore(status, status === 503 ? 'SlowDown' : usualErrorType(status), message);
  }

  /** Counts one request against the rate limit, where there is one. `now`: epoch ms. */
  admit(surface: Surface, now: number): RateVerdict | null {
    const isLimited = surface !== 'store' && surface !== 'page';
    return isLimited ? (this.#limiter?.admit(now) ?? null) : null;
  }

  /** Lets the body of an upload come no faster than the store reads; to be called when somebody begins to read it. */
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
