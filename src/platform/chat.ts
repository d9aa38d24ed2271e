import { failed, type LookupFailure, type Outcome } from '../domain/failure.ts';
import { checkMessage, type MessageRequest } from '../domain/request-limits.ts';
import type { Answer } from './failures.ts';
import type { Http } from './http.ts';
import type { RequestRetries } from './retry-request.ts';
import { Requester } from './requester.ts';
import { readResource, type Message } from './resources.ts';

/** A user of a bot's chat (interface.md, Authentication 4). */
export interface ChatUser {
  readonly webhookId: string;
  readonly userKey: string;
}

/** The chat interface: messages of one user. */
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
   * Sends a message as the user (interface.md, Create a message). 403 is no failure of credentials here: the user may
   * not be in the conversation. What the platform would not take is refused without a call.
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
      explain,
    );
  }
}

function explain({ status }: Answer, failure: LookupFailure): LookupFailure {
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
