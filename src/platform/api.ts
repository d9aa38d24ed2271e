import { ok, type Outcome, type PlatformFailure } from '../domain/failure.ts';
import type { OutgoingRequest } from './exchange.ts';
import { failureOf, type Answer } from './failures.ts';
import type { Urgency } from './gate.ts';
import type { Http, TimedAnswer } from './http.ts';
import { plainBody } from './open-body.ts';
import { readRateLimit, retryAfterMs } from './rate-limit.ts';
import { ServerClock } from './server-clock.ts';

/** A request to one of the platform's interfaces. */
export interface ApiRequest extends OutgoingRequest {
  readonly body: string | null;
  /** The field of the configuration that the address is from; `platform.baseUrl` unless given. */
  readonly addressField?: 'platform.chatUrl';
  /** See `Urgency`. */
  readonly urgency?: Urgency;
}

/**
 * One of the platform's two interfaces under one secret. What its answers say beside their body is taken note of for
 * all requests: the time, the rate limit, a pause.
 */
export class Api {
  readonly #http: Http;
  readonly #secret: RegExp;
  readonly #serverClock: ServerClock;

  /** @param secret - what requests authenticate with; no failure repeats it. */
  constructor(http: Http, secret: string) {
    this.#http = http;
    this.#secret = anyFormOf(secret);
    this.#serverClock = new ServerClock(http.clock);
  }

  /** The platform's time, epoch milliseconds: ours until an answer told otherwise. */
  now(): number {
    return this.#serverClock.now();
  }

  /** Whether an answer told it. */
  hasToldTime(): boolean {
    return this.#serverClock.isTold;
  }

  /** Sends a request once, paced. Any status is an answer. */
  async exchange(request: ApiRequest, signal: AbortSignal): Promise<Outcome<Answer>> {
    const addressField = request.addressField ?? 'platform.baseUrl';
    const outgoing = { ...request, addressField, to: 'platform', body: plainBody(request.body) } as const;
    const answered = await this.#http.send(outgoing, signal);
    if (answered.kind === 'failed') return answered;
    this.#note(answered.value);
    return ok({ ...answered.value, asked: { origin: request.url.origin, field: addressField } });
  }

  /** The failure that an answer stands for, without the secret. `notFound`: what 404 means for the operation. */
  failureOf(answer: Answer, notFound: 'bot-unknown' | 'refused'): PlatformFailure {
    // An answer may quote what it was sent.
    const redact = (words: string): string => words.replaceAll(this.#secret, '***');
    const failure = failureOf(answer, this.now(), notFound, redact);
    return { ...failure, message: redact(failure.message) };
  }

  #note({ status, headers, releasedAtMs }: TimedAnswer): void {
    this.#serverClock.noteDate(headers['date']);
    const { pacer } = this.#http;
    const report = readRateLimit(headers, this.now());
    pacer.noteAnswer({ releasedAtMs, wasLimited: status === 429, report });
    if (status !== 429 && status !== 503) return;
    const askedMs = retryAfterMs(status, headers, this.now());
    if (askedMs !== null || status === 429) pacer.notePauseAsked(askedMs);
  }
}

/** Matches a secret as it is, percent-encoded or in base64. */
function anyFormOf(secret: string): RegExp {
  const forms = [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64').replace(/=+$/u, ''),
  ];
  const literally = (text: string): string =>
    Array.from(text, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`).join('');
  return new RegExp(forms.map(literally).join('|'), 'giu');
}

/** Whether an answer's status says that what was asked was done (platform-facts.md, Success codes). */
export function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}
