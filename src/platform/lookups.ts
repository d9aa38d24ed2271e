import { failed, type OptionalFailure, type Outcome } from '../domain/failure.ts';
import type { FileKey } from '../domain/key.ts';
import { botHeaders, type Caller, isSegment } from './api.ts';
import type { Http } from './http.ts';
import { allPages, Requester, type RequestRetries } from './requester.ts';
import { failureOfOptional } from './failures.ts';
import type { JsonValue } from '../domain/json.ts';
import { readObject, isList, isObject, readNextToken, type Page } from './resources.ts';

/** A piece of text that the platform extracted from a file. */
export interface Passage {
  readonly text: string;
  /** Such as `Chunk` or `Title`; `null`: not reported. */
  readonly type: string | null;
  /** From 1; `null`: the file has no pages. */
  readonly page: number | null;
}

/** A passage that a search found. */
export interface FoundPassage extends Passage {
  /** Higher is better. */
  readonly score: number;
  readonly key: string;
}

export interface SearchQuery {
  readonly query: string;
  /** Only files with all of these tags. */
  readonly tags: Readonly<Record<string, string>>;
  /** Maximum of passages; `null`: the platform's default. */
  readonly limit: number | null;
}

/**
 * Searches the files of a bot, and reads what was extracted from them. All of these operations are optional: a platform
 * that does not serve one answers 404, 405 or 501 without a type that says that the file is missing (PLATFORM.md,
 * Optional operations).
 */
export class PlatformLookups {
  readonly #requester: Requester;
  readonly #filesUrl: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param baseUrl - without a trailing slash. */
  constructor(http: Http, baseUrl: string, botId: string, caller: Caller, retries: RequestRetries) {
    this.#requester = new Requester(http, caller.token, retries);
    this.#filesUrl = `${baseUrl}/v1/files`;
    this.#headers = botHeaders(caller, botId);
  }

  /** Returns the passages that match a question best, the best first. */
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

  /** Returns the id of the file with a key. */
  idOf(key: FileKey, signal: AbortSignal): Promise<Outcome<string, OptionalFailure>> {
    return this.#get(new URL(`${this.#filesUrl}/${encodeURIComponent(key)}`), readId, signal);
  }

  /** Returns all passages extracted from a file, in the platform's order. */
  async passagesOf(fileId: string, signal: AbortSignal): Promise<Outcome<Passage[], OptionalFailure>> {
    if (!isSegment(fileId))
      return failed({ kind: 'refused', message: `${JSON.stringify(fileId)} cannot be the id of a file` });
    return allPages(
      async (token) => {
        const url = new URL(`${this.#filesUrl}/${encodeURIComponent(fileId)}/passages`);
        if (token !== null) url.searchParams.set('nextToken', token);
        return await this.#get(url, readPassagePage, signal);
      },
      () => 'the list of passages does not end',
    );
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

/** Reads the passages of a search; `null` if the answer makes no sense. */
function readFoundPassages(text: string): FoundPassage[] | null {
  const passages = readObject(text)?.['passages'];
  if (!isList(passages)) return null;
  const found = passages.map((one) => {
    const passage = readPassage(one);
    if (passage === null || !isObject(one)) return null;
    const { score, file } = one as { score?: JsonValue; file?: JsonValue };
    const key = isObject(file) ? file['key'] : undefined;
    if (typeof score !== 'number' || typeof key !== 'string') return null;
    return { key, score, ...passage };
  });
  return found.every((one) => one !== null) ? found : null;
}

/** Reads a page of passages; `null` if the answer makes no sense. */
function readPassagePage(text: string): Page<Passage> | null {
  const body = readObject(text);
  const listed = body?.['passages'];
  const nextToken = body === null ? undefined : readNextToken(body);
  if (!isList(listed) || nextToken === undefined) return null;
  const passages = listed.map(readPassage);
  return passages.every((one) => one !== null) ? { items: passages, nextToken } : null;
}

/** Reads the id of the file in an answer; `null` if the answer makes no sense. */
function readId(text: string): string | null {
  const file = readObject(text)?.['file'];
  const id = isObject(file) ? file['id'] : undefined;
  return typeof id === 'string' && id !== '' ? id : null;
}

function readPassage(value: JsonValue): Passage | null {
  if (!isObject(value) || typeof value['content'] !== 'string') return null;
  const meta = value['meta'];
  const { type, pageNumber } = isObject(meta)
    ? (meta as { type?: JsonValue; pageNumber?: JsonValue })
    : { type: null, pageNumber: null };
  return {
    type: typeof type === 'string' ? type : null,
    page: typeof pageNumber === 'number' ? pageNumber : null,
    text: value['content'],
  };
}
