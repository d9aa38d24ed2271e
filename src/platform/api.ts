import {
  failed,
  ok,
  type LookupFailure,
  type OptionalFailure,
  type Outcome,
  type PlatformFailure,
} from '../domain/failure.ts';
import type { Identity } from '../domain/identity.ts';
import type { OutgoingRequest } from './exchange.ts';
import { failureOf, type Answer } from './failures.ts';
import type { Urgency } from './gate.ts';
import type { Http, TimedAnswer } from './http.ts';
import { plainBody } from './open-body.ts';
import { readRateLimit, retryAfterMs } from './rate-limit.ts';

/**
 * Credentials for a bot's files: the bearer token and the optional identity headers (interface.md, Authentication 1 and
 * 3).
 */
export interface Caller {
  readonly token: string;
  /** Tokens that bots have instead of it. */
  readonly tokens?: ReadonlyMap<string, string>;
  /** Names in lower case, such as `x-integration-id`. */
  readonly identityHeaders: Readonly<Record<string, string>>;
}

/** A request to one of the platform's interfaces. */
export interface ApiRequest extends OutgoingRequest {
  readonly body: string | null;
  /** The field of the configuration with the address; default `platform.baseUrl`. */
  readonly addressField?: 'platform.chatUrl' | 'notify.webhook';
  readonly urgency?: Urgency;
}

/**
 * One of the platform's two interfaces under one secret. Records for all requests what answers report besides their
 * body: the time, the rate limit, a pause.
 */
export class Api {
  readonly #http: Http;
  readonly #secret: RegExp;

  /** @param secrets - what requests authenticate with; no failure repeats them. */
  constructor(http: Http, secrets: readonly string[]) {
    this.#http = http;
    this.#secret = anyFormOf(secrets.filter((secret) => secret !== ''));
  }

  /** The platform's time, epoch milliseconds; our own until the platform has answered. */
  now(): number {
    return this.#http.serverClock.now();
  }

  /** True if the platform has reported its time. */
  isTimeKnown(): boolean {
    return this.#http.serverClock.isKnown;
  }

  /** Sends a request once, paced. An answer with any status is `ok`. */
  async exchange(request: ApiRequest, signal: AbortSignal): Promise<Outcome<Answer>> {
    const addressField = request.addressField ?? 'platform.baseUrl';
    const outgoing = { ...request, addressField, to: 'platform', body: plainBody(request.body) } as const;
    const answered = await this.#http.send(outgoing, signal);
    if (answered.kind === 'failed') return answered;
    this.#note(answered.value);
    return ok({ ...answered.value, asked: { origin: request.url.origin, field: addressField } });
  }

  /**
   * Sends a request once and reads its answer.
   *
   * @param read - `null`: the answer makes no sense.
   * @param explain - may replace the failure that the answer means.
   */
  async ask<T, F extends OptionalFailure>(
    request: ApiRequest,
    read: (text: string) => T | null,
    explain: (answer: Answer, failure: LookupFailure) => F,
    signal: AbortSignal,
  ): Promise<Outcome<T, F | PlatformFailure>> {
    const answered = await this.exchange(request, signal);
    if (answered.kind === 'failed') return answered;
    const answer = answered.value;
    const value = isSuccess(answer) ? read(answer.text) : null;
    if (value !== null) return ok(value);
    const failure = this.failureOf(answer, 'refused');
    const isMissing = answer.status === 404;
    return failed(explain(answer, isMissing ? { kind: 'not-found', message: failure.message } : failure));
  }

  /** Returns the failure that an answer means, without the secret. `notFound`: the meaning of 404 for the operation. */
  failureOf(answer: Answer, notFound: 'bot-unknown' | 'refused'): PlatformFailure {
    // An answer may quote the request.
    const redact = (words: string): string => words.replaceAll(this.#secret, '***');
    const failure = failureOf(answer, this.now(), notFound, redact);
    return { ...failure, message: redact(failure.message) };
  }

  #note({ status, headers, releasedAtMs }: TimedAnswer): void {
    this.#http.serverClock.noteDate(headers['date']);
    const { pacer } = this.#http;
    const report = readRateLimit(headers, this.now());
    pacer.noteAnswer({ releasedAtMs, wasLimited: status === 429, report });
    if (status !== 429 && status !== 503) return;
    const askedMs = retryAfterMs(status, headers, this.now());
    if (askedMs !== null) pacer.notePauseAsked(askedMs);
  }
}

/** Returns the headers that authenticate requests for a bot. */
export function botHeaders(caller: Caller, botId: string): Record<string, string> {
  const token = caller.tokens?.get(botId) ?? caller.token;
  return { ...caller.identityHeaders, authorization: `Bearer ${token}`, 'x-bot-id': botId };
}

export function tokensOf({ token, tokens }: Caller): string[] {
  return [token, ...(tokens?.values() ?? [])];
}

/** Matches secrets in plain text, percent-encoded or in base64. */
function anyFormOf(secrets: readonly string[]): RegExp {
  const forms = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64').replace(/=+$/u, ''),
  ]);
  const literally = (text: string): string =>
    Array.from(text, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`).join('');
  return new RegExp(forms.map(literally).join('|'), 'giu');
}

/** Returns whether the status means success (platform-facts.md, Success codes). */
export function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/**
 * Returns whether a name can be one percent-encoded segment of a URL: an empty one or one of dots would change the
 * path, and half a surrogate pair cannot be encoded.
 */
export function isSegment(name: string): boolean {
  return !/^\.{0,2}$|\p{Surrogate}/u.test(name);
}

/** Returns the identity headers that are configured (interface.md, Create or update a file: Headers). */
export function identityHeaders(identity: Identity): Record<string, string> {
  const headers: Record<string, string | undefined> = {
    'x-integration-id': identity.integrationId,
    'x-integration-alias': identity.integrationAlias,
    'x-integration-name': identity.integrationName,
    'x-user-id': identity.userId,
    'x-user-role': identity.userRole,
  };
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
