import { failed, type LookupFailure, type Outcome } from '../domain/failure.ts';
import type { Identity } from '../domain/identity.ts';
import {
  checkConversation,
  checkMessage,
  type ConversationRequest,
  type MessageRequest,
} from '../domain/request-limits.ts';
import type { Answer } from './failures.ts';
import type { Http } from './http.ts';
import { identityHeaders } from './api.ts';
import { type RequestRetries, Requester } from './requester.ts';
import { readResource, type Conversation, type Message } from './resources.ts';

/** The bot and the identity for new conversations (interface.md, Create a conversation: Headers). */
export interface ConversationCaller {
  readonly token: string;
  readonly botId: string;
  /** Only `integrationId` and `integrationAlias` are sent. */
  readonly identity: Identity;
}

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

  /**
   * Creates a conversation (interface.md, Create a conversation). Refuses without a request what the platform would not
   * accept.
   */
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
      explainConversation,
    );
  }
}

function explainConversation(_answer: Answer, failure: LookupFailure): LookupFailure {
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

/** A user of a bot's chat (interface.md, Authentication 4). */
export interface ChatUser {
  readonly webhookId: string;
  readonly userKey: string;
}

/** The chat interface, for messages of one user. */
export class PlatformChat {
  readonly #requester: Requester;
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param chatUrl - without a trailing slash. */
  constructor(http: Http, chatUrl: string, { webhookId, userKey }: ChatUser, retries: RequestRetries) {
    this.#requester = new Requester(http, userKey, retries);
    this.#url = new URL(`${chatUrl}/${encodeURIComponent(webhookId)}/messages`);
    this.#headers = { 'x-user-key': userKey, 'content-type': 'application/json' };
  }

  /**
   * Sends a message as the user (interface.md, Create a message). Here 403 is not a failure of credentials: the user
   * may not be a participant of the conversation. Refuses without a request what the platform would not accept.
   */
  async send(request: MessageRequest, signal: AbortSignal): Promise<Outcome<Message, LookupFailure>> {
    const problem = checkMessage(request);
    if (problem !== null) return failed({ kind: 'refused', message: `${problem.field} ${problem.message}` });
    return this.#requester.ask<Message>(
      {
        ...{ method: 'POST', url: this.#url, addressField: 'platform.chatUrl' },
        ...{ headers: this.#headers, body: JSON.stringify(request) },
      },
      (text) => readResource(text, 'message'),
      signal,
      explainMessage,
    );
  }
}

function explainMessage({ status }: Answer, failure: LookupFailure): LookupFailure {
  if (failure.kind === 'not-found') {
    const message = `${failure.message}; check the conversation's id and platform.chat.webhookId`;
    return { ...failure, message };
  }
  if (failure.kind !== 'credentials') return failure;
  return status === 403
    ? {
        kind: 'refused',
        message: `${failure.message}; the user of platform.chat.userKey may not be a participant of the conversation`,
      }
    : { ...failure, message: `${failure.message}; check platform.chat.userKey` };
}
