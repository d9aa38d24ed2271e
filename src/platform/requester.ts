import { retryDelayMs, type RetryWait, retry, type Attempted } from '../domain/retry.ts';
import type { Clock } from '../domain/clock.ts';
import {
  failed,
  ok,
  type LookupFailure,
  type OptionalFailure,
  type Outcome,
  type PlatformFailure,
} from '../domain/failure.ts';
import { Api, type ApiRequest } from './api.ts';
import type { Answer } from './failures.ts';
import type { Http } from './http.ts';
import type { Page } from './resources.ts';

export interface RequestRetries {
  /** Maximum of attempts. */
  readonly attempts: number;
  /** The longest total wait for the platform, milliseconds. */
  readonly giveUpAfterMs: number;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly onRetry: (reason: string, delayMs: number) => void;
}

interface Asked<T, F> extends Attempted<Outcome<T, F>> {
  readonly retryAfterMs: number | undefined;
}

/** Sends requests to one of the platform's interfaces, and repeats those that may be repeated. */
export class Requester {
  readonly #clock: Clock;
  readonly #api: Api;
  readonly #retries: RequestRetries;

  /** @param secret - what requests authenticate with; no failure repeats it. */
  constructor(http: Http, secret: string, retries: RequestRetries) {
    this.#clock = http.clock;
    this.#api = new Api(http, [secret]);
    this.#retries = retries;
  }

  now(): number {
    return this.#api.now();
  }

  /**
   * Sends a request and reads its answer. A GET is repeated after every transient failure; any other method only if it
   * certainly was not carried out (interface.md shows no way to make a POST safe to repeat). The signal ends the
   * waiting.
   *
   * @param read - `null`: the answer makes no sense.
   * @param explain - may replace the failure that the answer means.
   */
  ask<T, F extends OptionalFailure = LookupFailure>(
    request: ApiRequest,
    read: (text: string) => T | null,
    signal: AbortSignal,
    explain: (answer: Answer, failure: LookupFailure) => F,
  ): Promise<Outcome<T, F | PlatformFailure>> {
    const { attempts, giveUpAfterMs, random, onRetry } = this.#retries;
    const clock = this.#clock;
    const beganMs = clock.monotonic();
    let made = 0;
    const next = ({ retryAfterMs }: Asked<T, F | PlatformFailure>): RetryWait | null => {
      const delayMs = retryDelayMs(made, random(), retryAfterMs);
      return made < attempts && clock.monotonic() - beganMs + delayMs <= giveUpAfterMs ? { delayMs } : null;
    };
    const askOnce = async (): Promise<Asked<T, F | PlatformFailure>> => {
      const result = await this.#api.ask(request, read, explain, signal);
      made += 1;
      const failure: OptionalFailure | null = result.kind === 'failed' ? result.failure : null;
      const transient = failure?.kind === 'transient' ? failure : null;
      const mayRepeat = request.method === 'GET' || transient?.notCarriedOut === true;
      return {
        result,
        retryReason: transient !== null && mayRepeat ? transient.message : null,
        retryAfterMs: transient?.retryAfterMs,
      };
    };
    return retry(askOnce, { clock, next, onRetry }, signal);
  }
}

/** A list with more pages does not end. */
export const MOST_PAGES = 1_000;

/**
 * Reads all pages of a list.
 *
 * @param endless - the message for a list that does not end: a page is repeated, or there are more than `MOST_PAGES`.
 */
export async function allPages<T, F>(
  read: (token: string | null) => Promise<Outcome<Page<T>, F>>,
  endless: (why: 'repeated' | 'too-many') => string,
): Promise<Outcome<T[], F | PlatformFailure>> {
  const items: T[] = [];
  const seen = new Set<string>();
  for (let token: string | null = null; ;) {
    const page: Outcome<Page<T>, F> = await read(token);
    if (page.kind === 'failed') return page;
    for (const item of page.value.items) items.push(item);
    token = page.value.nextToken;
    if (token === null) return ok(items);
    if (seen.has(token) || seen.size >= MOST_PAGES) {
      const message = endless(seen.has(token) ? 'repeated' : 'too-many');
      return failed({ kind: 'transient', message });
    }
    seen.add(token);
  }
}
