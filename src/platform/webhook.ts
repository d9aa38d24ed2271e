import type { LookupFailure, Outcome } from '../domain/failure.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Answer } from './failures.ts';
import type { Http } from './http.ts';
import { type RequestRetries, Requester } from './requester.ts';

/** An address of the user's that takes JSON by POST, such as a chat tool's. */
export class Webhook {
  /** The address without its secret part. */
  readonly origin: string;
  readonly #url: URL;
  readonly #requester: Requester;

  constructor(http: Http, url: URL, retries: RequestRetries) {
    const path = url.pathname + url.search;
    this.origin = url.origin;
    this.#url = url;
    this.#requester = new Requester(http, path === '/' ? url.href : path, retries);
  }

  /** Posts a body. Any answer with a 2xx status is a success. */
  async post(body: JsonObject, signal: AbortSignal): Promise<Outcome<true, LookupFailure>> {
    return this.#requester.ask(
      {
        ...{ method: 'POST', url: this.#url, addressField: 'notify.webhook' },
        ...{ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
      },
      () => true,
      signal,
      explain,
    );
  }
}

/**
 * A refusal here says nothing about the platform's credentials. The words of the answer are not shown: they may quote
 * any part of the address.
 */
function explain({ status }: Answer, failure: LookupFailure): LookupFailure {
  const message = `${status}; check the address of notify.webhook`;
  return failure.kind === 'transient' ? { ...failure, message } : { kind: 'refused', message };
}
