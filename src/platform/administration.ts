import { failed, type LookupFailure, type Outcome } from '../domain/failure.ts';
import type { Answer } from './failures.ts';
import type { Http } from './http.ts';
import { allPages, MOST_PAGES, Requester, type RequestRetries } from './requester.ts';
import { isSegment } from './api.ts';
import { readBotPage, readResource, type BotSummary, type Integration, type Page } from './resources.ts';

/** Credentials for a workspace (interface.md, Authentication 1 and 2). */
export interface Administrator {
  readonly token: string;
  readonly workspaceId: string;
}

/** The administration interface: the bots of a workspace, and the integration hub. */
export class PlatformAdministration {
  readonly #requester: Requester;
  readonly #areaUrl: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param baseUrl - without a trailing slash. */
  constructor(http: Http, baseUrl: string, { token, workspaceId }: Administrator, retries: RequestRetries) {
    this.#requester = new Requester(http, token, retries);
    this.#areaUrl = `${baseUrl}/v1/admin`;
    this.#headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId };
  }

  /**
   * Lists all bots of the workspace, in the platform's order (interface.md, List bots; the paging of platform-facts.md,
   * Bots, hub, conversations, messages). Fails if the platform repeats a page.
   */
  listBots(signal: AbortSignal): Promise<Outcome<BotSummary[], LookupFailure>> {
    return allPages(
      (token) => this.#botPage(token, signal),
      (why) =>
        `the list of bots does not end: ${why === 'repeated' ? 'the platform named the same next page twice' : `there is another page after ${MOST_PAGES}`}`,
    );
  }

  /**
   * Gets an integration from the hub (interface.md, Get an integration from the hub).
   *
   * @param version - a version, a range, or `latest`.
   * @param multipleInstances - sends `x-multiple-integrations`: instances are keyed by alias instead of by id.
   */
  async getIntegration(
    name: string,
    version: string,
    multipleInstances: boolean,
    signal: AbortSignal,
  ): Promise<Outcome<Integration, LookupFailure>> {
    if (!isSegment(name) || !isSegment(version)) {
      return failed({ kind: 'refused', message: 'this cannot be the name or version of an integration' });
    }
    const path = `${encodeURIComponent(name)}/${encodeURIComponent(version)}`;
    return this.#requester.ask<Integration>(
      {
        method: 'GET',
        url: new URL(`${this.#areaUrl}/hub/integrations/${path}`),
        headers: { ...this.#headers, ...(multipleInstances && { 'x-multiple-integrations': 'true' }) },
        body: null,
      },
      (text) => readResource(text, 'integration'),
      signal,
      explain,
    );
  }

  /** The platform's time, epoch milliseconds; our own until the platform has answered. */
  now(): number {
    return this.#requester.now();
  }

  #botPage(nextToken: string | null, signal: AbortSignal): Promise<Outcome<Page<BotSummary>, LookupFailure>> {
    const url = new URL(`${this.#areaUrl}/bots`);
    if (nextToken !== null) url.searchParams.set('nextToken', nextToken);
    return this.#requester.ask(
      { method: 'GET', url, headers: this.#headers, body: null },
      readBotPage,
      signal,
      explain,
    );
  }
}

/** interface.md, Authentication 5: 401 may also be about the workspace. */
function explain(_answer: Answer, failure: LookupFailure): LookupFailure {
  if (failure.kind !== 'credentials') return failure;
  const fix =
    failure.scope === 'all'
      ? 'check platform.token and platform.workspaceId'
      : 'the token of platform.token may not do this in platform.workspaceId';
  return { ...failure, message: `${failure.message}; ${fix}` };
}
