import { failed, ok, type OptionalFailure, type Outcome } from '../domain/failure.ts';
import type { Quota, Usage, Usages } from '../domain/usage.ts';
import type { Administrator } from './administration.ts';
import type { Http } from './http.ts';
import { failureOfOptional } from './failures.ts';
import { isSegment } from './api.ts';
import { Requester, type RequestRetries } from './requester.ts';
import { isObject, readObject } from './resources.ts';

/** The platform's names. */
const TYPES: Readonly<Record<Quota, string>> = {
  storage: 'storage_count',
  vectorStorage: 'knowledgebase_vector_storage',
  indexedFiles: 'indexed_file_count',
  largestFile: 'file_max_size_bytes',
};

/**
 * Reads how much of its quotas a workspace uses (test/conformance/CONTRACT.md, Usage). An optional operation, which a token may not
 * be allowed to use.
 */
export class PlatformUsage {
  readonly #requester: Requester;
  readonly #usagesUrl: string;
  readonly #workspaceId: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param baseUrl - without a trailing slash. */
  constructor(http: Http, baseUrl: string, { token, workspaceId }: Administrator, retries: RequestRetries) {
    this.#requester = new Requester(http, token, retries);
    this.#usagesUrl = `${baseUrl}/v1/admin/usages`;
    this.#workspaceId = workspaceId;
    this.#headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId };
  }

  /** Returns the use of all quotas for files, requested one after the other. */
  async all(signal: AbortSignal): Promise<Outcome<Usages, OptionalFailure>> {
    if (!isSegment(this.#workspaceId))
      return failed({ kind: 'refused', message: 'platform.workspaceId cannot be the id of a workspace' });
    const storage = await this.#ask('storage', signal);
    if (storage.kind === 'failed') return storage;
    const vectorStorage = await this.#ask('vectorStorage', signal);
    const indexedFiles = await this.#ask('indexedFiles', signal);
    const largestFile = await this.#ask('largestFile', signal);
    return ok({
      storage: storage.value,
      vectorStorage: valueOrNull(vectorStorage),
      indexedFiles: valueOrNull(indexedFiles),
      largestFile: valueOrNull(largestFile),
    });
  }

  #ask(quota: Quota, signal: AbortSignal): Promise<Outcome<Usage, OptionalFailure>> {
    const url = new URL(`${this.#usagesUrl}/${encodeURIComponent(this.#workspaceId)}`);
    url.searchParams.set('type', TYPES[quota]);
    return this.#requester.ask<Usage, OptionalFailure>(
      { method: 'GET', url, headers: this.#headers, body: null, urgency: 'question' },
      readUsage,
      signal,
      failureOfOptional,
    );
  }
}

/** The platform may not know every type. */
function valueOrNull(outcome: Outcome<Usage, OptionalFailure>): Usage | null {
  return outcome.kind === 'ok' ? outcome.value : null;
}

/** Reads the usage in an answer; `null` if the answer makes no sense. */
function readUsage(text: string): Usage | null {
  const usage = readObject(text)?.['usage'];
  if (!isObject(usage)) return null;
  const { value, quota } = usage as { value?: unknown; quota?: unknown };
  if (!isAmount(value)) return null;
  return { used: value, allowed: isAmount(quota) ? quota : null };
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
