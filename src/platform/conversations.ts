import { failed, type LookupFailure, type Outcome } from '../domain/failure.ts';
import type { Identity } from '../domain/identity.ts';
import { checkConversation, type ConversationRequest } from '../domain/request-limits.ts';
import type { Answer } from './failures.ts';
import type { Http } from './http.ts';
import { identityHeaders } from './identity-headers.ts';
import type { RequestRetries } from './retry-request.ts';
import { Requester } from './requester.ts';
import { readResource, type Conversation } from './resources.ts';

/** For which bot conversations are created, and as what (interface.md, Create a conversation: Headers). */
export interface ConversationCaller {
  readonly token: string;
  readonly botId: string;
  /** Of these only `integrationId` and `integrationAlias` are sent. */
  readonly identity: Identity;
}

/** The conversations of a bot. */
export class PlatformConversations {
  readonly #requester: Requester;
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param baseUrl - without a trailing slash. */
  constructor(http: Http, baseUrl: string, caller: ConversationCaller, retries: RequestRetries) {
    const { token, botId, identity } = caller;
    this.#requester = new Requester(http, token, retries);
    this.#url = new URL(`${baseUrl}/v1/chat/conversations`);
    this.#headers = {
      ...identityHeaders({
        ...(identity.integrationId !== undefined && { integrationId: identity.integrationId }),
        ...(identity.integrationAlias !== undefined && { integrationAlias: identity.integrationAlias }),
      }),
      authorization: `Bearer ${token}`,
      'x-bot-id': botId,
      'content-type': 'application/json',
    };
  }

  /** Creates a conversation (interface.md, Create a conversation). What the platform would not take is refused without a call. */
  async create(
    request: ConversationRequest,
    signal: AbortSignal,
  ): Promise<Outcome<Conversation, LookupFailure>> {
    const problem = checkConversation(request);
    if (problem !== null) return failed({ kind: 'refused', message: `${problem.field} ${problem.message}` });
    return this.#requester.ask(
      { method: 'POST', url: this.#url, headers: this.#headers, body: JSON.stringify(request) },
      (text) => readResource(text, 'conversation'),
      signal,
      explain,
    );
  }
}

function explain(_answer: Answer, failure: LookupFailure): LookupFailure {
  switch (failure.kind) {
    case 'credentials': {
      const fix =
        failure.scope === 'all'
          ? 'check platform.token'
          : 'the token of platform.token may not do this with platform.botId';
      return { ...failure, message: `${failure.message}; ${fix}` };
    }
    case 'not-found':
      return { ...failure, message: `${failure.message}; check platform.botId` };
    case 'quota':
    case 'refused':
    case 'transient':
      return failure;
  }
}
