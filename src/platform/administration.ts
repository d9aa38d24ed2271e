import { failed, ok, type LookupFailure, type Outcome } from '../domain/failure.ts';
import type { Answer } from './failures.ts';
import type { Http } from './http.ts';
import { isSegment } from './path-segment.ts';
import type { RequestRetries } from './retry-request.ts';
import { Requester } from './requester.ts';
import { readBotPage, readResource, type BotPage, type BotSummary, type Integration } from './resources.ts';

/** Who administers which workspace (interface.md, Authentication 1 and 2). */
export interface Administrator {
  readonly token: string;
  readonly workspaceId: string;
}

/** No workspace has so many bots: a list with more pages is made up as it is read. */
const MOST_PAGES = 1_000;

/** The administration area: the bots of a workspace, and the integration hub. */
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
   * All bots of the workspace, in the platform's order (interface.md, List bots; the paging of platform-facts.md, Bots,
   * hub, conversations, messages). A platform that leads back to a page that was read already has failed.
   */
  async listBots(signal: AbortSignal): Promise<Outcome<BotSummary[], LookupFailure>> {
    const bots: BotSummary[] = [];
    const seen = new Set<string>();
    for (let token: string | null = null; ;) {
      const page = await this.#botPage(token, signal);
      if (page.kind === 'failed') return page;
      for (const bot of page.value.bots) bots.push(bot);
      token = page.value.nextToken;
      if (token === null) return ok(bots);
      if (seen.has(token) || seen.size >= MOST_PAGES) {
        return failed({
          kind: 'transient',
          message: `the list of bots does not end: ${seen.has(token) ? 'the platform named the same next page twice' : `there is another page after ${MOST_PAGES}`}`,
        });
      }
      seen.add(token);
    }
  }

  /**
   * An integration of the hub (interface.md, Get an integration from the hub).
   *
   * @param version - a version, a range, or `latest`.
   * @param multipleInstances - sends `x-multiple-integrations`: instances come keyed by alias instead of by id.
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

  /** The platform's time, epoch milliseconds: ours until an answer told otherwise. */
  now(): number {
    return this.#requester.now();
  }

  #botPage(nextToken: string | null, signal: AbortSignal): Promise<Outcome<BotPage, LookupFailure>> {
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

/** interface.md, Authentication 5: 401 may be about the workspace as well. */
function explain(_answer: Answer, failure: LookupFailure): LookupFailure {
  if (failure.kind !== 'credentials') return failure;
  const fix =
    failure.scope === 'all'
      ? 'check platform.token and platform.workspaceId'
      : 'the token of platform.token may not do this in platform.workspaceId';
  return { ...failure, message: `${failure.message}; ${fix}` };
}
