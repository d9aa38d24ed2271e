import {
  failed,
  ok,
  type LookupFailure,
  type OptionalFailure,
  type Outcome,
  type PlatformFailure,
} from '../domain/failure.ts';
import { Api, isSuccess, type ApiRequest } from './api.ts';
import type { Answer } from './failures.ts';
import type { Http } from './http.ts';
import { retryRequest, type RequestRetries } from './retry-request.ts';

/** Asks one of the platform's interfaces for what is read from its answer. What may be repeated is repeated. */
export class Requester {
  readonly #http: Http;
  readonly #api: Api;
  readonly #retries: RequestRetries;

  /** @param secret - what requests authenticate with; no failure repeats it. */
  constructor(http: Http, secret: string, retries: RequestRetries) {
    this.#http = http;
    this.#api = new Api(http, secret);
    this.#retries = retries;
  }

  /** The platform's time, epoch milliseconds. */
  now(): number {
    return this.#api.now();
  }

  /**
   * Sends a request and reads its answer. A GET is repeated on every transient failure; any other method only when it
   * certainly was not carried out (interface.md shows no way to make a POST safe to repeat).
   *
   * @param read - `null`: the answer makes no sense.
   * @param explain - gives another meaning to the failure that an answer stands for.
   */
  ask<T, F extends OptionalFailure = LookupFailure>(
    request: ApiRequest,
    read: (text: string) => T | null,
    signal: AbortSignal,
    explain: (answer: Answer, failure: LookupFailure) => F,
  ): Promise<Outcome<T, F | PlatformFailure>> {
    const once = async (): Promise<Outcome<T, F | PlatformFailure>> => {
      const answered = await this.#api.exchange(request, signal);
      if (answered.kind === 'failed') return answered;
      const answer = answered.value;
      const value = isSuccess(answer) ? read(answer.text) : null;
      return value === null ? failed(explain(answer, this.#failureOf(answer))) : ok(value);
    };
    const repeatable = request.method === 'GET' ? 'any' : 'not-carried-out';
    return retryRequest(once, repeatable, this.#retries, this.#http.clock, signal);
  }

  #failureOf(answer: Answer): LookupFailure {
    const failure = this.#api.failureOf(answer, 'refused');
    return answer.status === 404 ? { kind: 'not-found', message: failure.message } : failure;
  }
}
