import { failed, ok, type OptionalFailure, type Outcome } from '../domain/failure.ts';
import type { FileKey } from '../domain/brands.ts';
import type { Caller } from './files.ts';
import type { Http } from './http.ts';
import type { RequestRetries } from './retry-request.ts';
import { failureOfOptional } from './optional-operation.ts';
import { isSegment } from './path-segment.ts';
import { Requester } from './requester.ts';
import { readFoundPassages, readId, readPassagePage, type FoundPassage, type Passage } from './passages.ts';

/** What a search is narrowed down by. */
export interface SearchQuery {
  readonly query: string;
  /** Only files with all of these. */
  readonly tags: Readonly<Record<string, string>>;
  /** Most passages; `null`: as many as the platform gives by itself. */
  readonly limit: number | null;
}

/** A file has fewer passages than fill so many pages. */
const MOST_PAGES = 1_000;

/**
 * What the bot finds in its files, and what was made of them. All of these operations are optional: a platform that does
 * not serve one answers 404, 405 or 501 without a type that says that the file is missing (PLATFORM.md, Optional operations).
 */
export class PlatformLookups {
  readonly #requester: Requester;
  readonly #filesUrl: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param baseUrl - without a trailing slash. */
  constructor(http: Http, baseUrl: string, botId: string, caller: Caller, retries: RequestRetries) {
    this.#requester = new Requester(http, caller.token, retries);
    this.#filesUrl = `${baseUrl}/v1/files`;
    this.#headers = {
      ...caller.identityHeaders,
      authorization: `Bearer ${caller.token}`,
      'x-bot-id': botId,
    };
  }

  /** The passages that fit a question best, the best first. */
  search(
    { query, tags, limit }: SearchQuery,
    signal: AbortSignal,
  ): Promise<Outcome<FoundPassage[], OptionalFailure>> {
    const url = new URL(`${this.#filesUrl}/search`);
    url.searchParams.set('query', query);
    for (const [name, value] of Object.entries(tags)) url.searchParams.append(`tags.${name}`, value);
    if (limit !== null) url.searchParams.set('limit', String(limit));
    return this.#get(url, readFoundPassages, signal);
  }

  /** The id of the file that has a key. */
  idOf(key: FileKey, signal: AbortSignal): Promise<Outcome<string, OptionalFailure>> {
    return this.#get(new URL(`${this.#filesUrl}/${encodeURIComponent(key)}`), readId, signal);
  }

  /** All passages that were extracted from a file, in the platform's order. */
  async passagesOf(fileId: string, signal: AbortSignal): Promise<Outcome<Passage[], OptionalFailure>> {
    if (!isSegment(fileId))
      return failed({ kind: 'refused', message: `${JSON.stringify(fileId)} cannot be the id of a file` });
    const passages: Passage[] = [];
    const seen = new Set<string>();
    for (let token: string | null = null; ;) {
      const url = new URL(`${this.#filesUrl}/${encodeURIComponent(fileId)}/passages`);
      if (token !== null) url.searchParams.set('nextToken', token);
      const page = await this.#get(url, readPassagePage, signal);
      if (page.kind === 'failed') return page;
      for (const passage of page.value.passages) passages.push(passage);
      token = page.value.nextToken;
      if (token === null) return ok(passages);
      if (seen.has(token) || seen.size >= MOST_PAGES)
        return failed({ kind: 'transient', message: 'the list of passages does not end' });
      seen.add(token);
    }
  }

  #get<T>(
    url: URL,
    read: (text: string) => T | null,
    signal: AbortSignal,
  ): Promise<Outcome<T, OptionalFailure>> {
    return this.#requester.ask<T, OptionalFailure>(
      { method: 'GET', url, headers: this.#headers, body: null },
      read,
      signal,
      failureOfOptional,
    );
  }
}
