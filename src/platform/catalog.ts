import type {
  FactsUpdate,
  CatalogFile,
  CatalogPage,
  CatalogQuery,
  FileCatalog,
} from '../domain/file-catalog.ts';
import { failed, ok, type OptionalFailure, type Outcome } from '../domain/failure.ts';
import type { JsonObject, JsonValue } from '../domain/json.ts';
import { Api, botHeaders, tokensOf, type ApiRequest, type Caller, isSegment } from './api.ts';
import { quote, failureOfOptional } from './failures.ts';
import type { Http } from './http.ts';
import { isList, isObject, readNextToken, readObject } from './resources.ts';

/** The largest page of a list (test/conformance/CONTRACT.md, List files). */
const PAGE_SIZE = 100;

/**
 * Lists, gets, changes and deletes files without their content. Every request is sent once. Questions about single
 * files yield to requests for files; pages, changes and deletions are queued like these.
 */
export class PlatformCatalog implements FileCatalog {
  readonly #api: Api;
  readonly #filesUrl: string;
  readonly #caller: Caller;

  /** @param baseUrl - without a trailing slash. */
  constructor(http: Http, baseUrl: string, caller: Caller) {
    this.#api = new Api(http, tokensOf(caller));
    this.#filesUrl = `${baseUrl}/v1/files`;
    this.#caller = caller;
  }

  /** Gets a page of the bot's files, or those with some ids (test/conformance/CONTRACT.md, List files). */
  list(
    botId: string,
    query: CatalogQuery,
    signal: AbortSignal,
  ): Promise<Outcome<CatalogPage, OptionalFailure>> {
    const url = new URL(this.#filesUrl);
    const { searchParams } = url;
    // Also for a list by ids: the platform's default page may be smaller than the number of ids.
    searchParams.set('pageSize', String(PAGE_SIZE));
    switch (query.kind) {
      case 'page':
        // Files created while the list is read are on the last pages.
        searchParams.set('sortField', 'createdAt');
        searchParams.set('sortDirection', 'asc');
        if (query.token !== null) searchParams.set('nextToken', query.token);
        break;
      case 'ids':
        for (const id of query.ids) searchParams.append('ids', id);
        break;
    }
    const urgency = query.kind === 'ids' ? 'question' : 'file';
    const request = { ...this.#request(botId, url), method: 'GET', body: null, urgency } as const;
    return this.#ask(request, readCatalogPage, signal);
  }

  /** Gets a file by its id or its key (test/conformance/CONTRACT.md, Get a file). */
  get(botId: string, name: string, signal: AbortSignal): Promise<Outcome<CatalogFile, OptionalFailure>> {
    const url = this.#urlOf(name);
    if (url === null) return noName(name);
    const request = { ...this.#request(botId, url), method: 'GET', body: null, urgency: 'question' } as const;
    return this.#ask(request, readAnsweredFile, signal);
  }

  /** Changes the settings of a file; its content stays (test/conformance/CONTRACT.md, Change a file's settings). */
  update(
    botId: string,
    id: string,
    { expiresAtMs, ...facts }: FactsUpdate,
    signal: AbortSignal,
  ): Promise<Outcome<CatalogFile, OptionalFailure>> {
    const expiry =
      expiresAtMs === undefined
        ? {}
        : { expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString() };
    const url = this.#urlOf(id);
    if (url === null) return noName(id);
    const { headers } = this.#request(botId, url);
    const request = {
      method: 'PUT',
      url,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...facts, ...expiry }),
    } as const;
    return this.#ask(request, readAnsweredFile, signal);
  }

  /** Deletes a file (test/conformance/CONTRACT.md, Delete a file). */
  async delete(botId: string, id: string, signal: AbortSignal): Promise<Outcome<null, OptionalFailure>> {
    const url = this.#urlOf(id);
    if (url === null) return noName(id);
    const request = { ...this.#request(botId, url), method: 'DELETE', body: null } as const;
    const deleted = await this.#ask(request, readObject, signal);
    return deleted.kind === 'ok' ? ok(null) : deleted;
  }

  #urlOf(name: string): URL | null {
    return isSegment(name) ? new URL(`${this.#filesUrl}/${encodeURIComponent(name)}`) : null;
  }

  #request(botId: string, url: URL): Pick<ApiRequest, 'url' | 'headers'> {
    return { url, headers: botHeaders(this.#caller, botId) };
  }

  #ask<T>(
    request: ApiRequest,
    read: (text: string) => T | null,
    signal: AbortSignal,
  ): Promise<Outcome<T, OptionalFailure>> {
    return this.#api.ask(request, read, failureOfOptional, signal);
  }
}

/** An id from the platform may be unusable in a URL. */
function noName(name: string): Promise<Outcome<never, OptionalFailure>> {
  const message = `${JSON.stringify(name)} cannot be the id or the key of a file`;
  return Promise.resolve(failed({ kind: 'refused', message }));
}

/** Reads a page of files; `null` if the answer makes no sense. */
function readCatalogPage(text: string): CatalogPage | null {
  const body = readObject(text);
  const listed = body?.['files'];
  const nextToken = body === null ? undefined : readNextToken(body);
  if (!isList(listed) || nextToken === undefined) return null;
  const files: CatalogFile[] = [];
  for (const one of listed) {
    const file = readCatalogFile(one);
    if (file === null) return null;
    files.push(file);
  }
  return { files, nextToken };
}

/** Reads the file of an answer; `null` if the answer makes no sense. */
function readAnsweredFile(text: string): CatalogFile | null {
  return readCatalogFile(readObject(text)?.['file']);
}

/** Reads a File resource (interface.md, File); `null` if it has no id or no key. */
function readCatalogFile(value: JsonValue | undefined): CatalogFile | null {
  if (!isObject(value)) return null;
  const { id, key, size, status, failedStatusReason, contentType } = value as Fields;
  const { tags, metadata, accessPolicies, index, expiresAt, owner, url } = value as Fields;
  if (typeof id !== 'string' || id === '' || typeof key !== 'string') return null;
  return {
    id,
    key,
    sizeBytes: typeof size === 'number' ? size : null,
    status: textOr(status),
    failedReason: quote(failedStatusReason),
    contentType: textOr(contentType),
    tags: isObject(tags) ? textsOf(tags) : {},
    metadata: isObject(metadata) ? metadata : {},
    accessPolicies: isList(accessPolicies) ? accessPolicies.filter((one) => typeof one === 'string') : [],
    index: typeof index === 'boolean' ? index : null,
    expiresAtMs: momentOr(expiresAt),
    ownerType: isObject(owner) ? textOr(owner['type']) : null,
    url: textOr(url),
  };
}

type Fields = Readonly<Record<string, JsonValue | undefined>>;

function textOr(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function momentOr(value: JsonValue | undefined): number | null {
  const timeMs = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(timeMs) ? null : timeMs;
}

function textsOf(tags: JsonObject): Readonly<Record<string, string>> {
  const texts = Object.entries(tags).filter((one): one is [string, string] => typeof one[1] === 'string');
  return Object.fromEntries(texts);
}
