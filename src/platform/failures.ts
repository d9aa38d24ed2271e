import type { OptionalFailure, LookupFailure, PlatformFailure } from '../domain/failure.ts';
import { retryAfterMs, type ResponseHeaders } from './rate-limit.ts';

/** A complete response, its body at most `LARGEST_ANSWER_BYTES` long. */
export interface Answer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly text: string;
  /** For messages: the proxy that may have answered instead of the platform. */
  readonly proxy?: string;
  /** The address without its path, and the field of the configuration with it. */
  readonly asked?: { readonly origin: string; readonly field: string };
}

/** The longest part of the platform's own words in a message. */
const LONGEST_QUOTE = 300;

/**
 * Returns the failure that an answer of the platform means (interface.md, Errors; platform-facts.md, Errors).
 * Understands both shapes of error bodies, and bodies that are not JSON.
 *
 * @param notFound - the meaning of 404 for this operation.
 * @param redact - removes secrets from the platform's words, before they are shortened.
 */
export function failureOf(
  answer: Answer,
  nowMs: number,
  notFound: 'bot-unknown' | 'refused',
  redact: (words: string) => string = (words) => words,
): PlatformFailure {
  const { status } = answer;
  const { type, message: said } = readError(answer.text, redact);
  const message = messageOf(answer, type, said);
  if (status === 401) return { kind: 'credentials', scope: 'all', message };
  if (status === 402 || type === 'QuotaExceeded') return { kind: 'quota', message };
  if (status === 403) return { kind: 'credentials', scope: 'bot', message };
  if (status === 404 && notFound === 'bot-unknown')
    return { kind: 'credentials', scope: 'unknown-bot', message };
  if (isTransient(status, type)) return transient(answer, nowMs, message);
  if (status >= 300 && status < 400) return redirected(answer);
  if (status >= 200 && status < 300)
    return {
      kind: 'transient',
      message: `${status} with an unexpected answer${pageIn(answer)}`,
      unusable: true,
    };
  return { kind: 'refused', message };
}

/** Says that an HTML page came instead of an answer: from another server, or a network that requires a login. */
function pageIn({ text, asked }: Answer): string {
  return asked === undefined || !/^\s*</u.test(text)
    ? ''
    : `, a page of HTML from ${asked.origin}; check ${asked.field} and the network`;
}

function messageOf({ status, proxy }: Answer, type: string | null, said: string | null): string {
  // Refusals of the platform itself have a type.
  if (proxy !== undefined && type === null && (status === 401 || status === 403))
    return `${status}, possibly from the proxy ${proxy} and not from the platform: check its user and password`;
  return `${status}${type === null ? '' : ` ${type}`}${said === null ? '' : `: ${said}`}`;
}

function transient({ status, headers }: Answer, nowMs: number, message: string): PlatformFailure {
  const askedMs = retryAfterMs(status, headers, nowMs);
  return {
    kind: 'transient',
    message,
    ...(askedMs !== null && { retryAfterMs: askedMs }),
    ...(status === 429 && { notCarriedOut: true }),
    ...((status === 409 || status === 429) && { answered: true }),
  };
}

/** Returns the error type of an answer; `null`: none. */
function errorTypeOf(text: string): string | null {
  return readError(text, (words) => words).type;
}

/**
 * Returns the failure for a redirect. Redirects are never followed, because that would send the credentials elsewhere.
 */
export function redirected({ status, headers }: Pick<Answer, 'status' | 'headers'>): PlatformFailure {
  const location = headers['location'];
  const host =
    typeof location === 'string' && URL.canParse(location) ? ` to ${new URL(location).origin}` : '';
  return {
    kind: 'transient',
    message: `${status}: redirected${host}, which is not followed; check the address in the config`,
    unusable: true,
  };
}

function isTransient(status: number, type: string | null): boolean {
  if (status === 409) return type !== 'AlreadyExists' && type !== 'RelationConflict';
  return status === 408 || status === 429 || status >= 500;
}

function readError(
  text: string,
  redact: (words: string) => string,
): { type: string | null; message: string | null } {
  try {
    const { type, message, description } = JSON.parse(text) as Record<string, unknown>;
    const words = (said: unknown): string | null => quote(typeof said === 'string' ? redact(said) : null);
    return { type: words(type), message: words(message) ?? words(description) };
  } catch {
    return { type: null, message: null };
  }
}

/**
 * Returns the platform's words on one line, shortened, well-formed and without signed addresses; `null` if there are
 * none. Text that is not well-formed could not be stored everywhere, for example in a database.
 */
export function quote(said: unknown): string | null {
  if (typeof said !== 'string' || said === '') return null;

  const line = said
    .replace(/[\u0000-\u001f\u007f-\u009f]+/gu, ' ')
    .replace(/\p{Surrogate}/gu, '\ufffd')
    // A signed address is a secret: removes what follows its "?" and what precedes its "@".
    .replace(/(\bhttps?:\/\/)(?:[^\s/?#"'<>]*@)?([^\s?"'<>]*)(?:\?[^\s"'<>]*)?/giu, '$1$2');
  // Does not split a character.
  return line.length > LONGEST_QUOTE
    ? `${line.slice(0, LONGEST_QUOTE).replace(/\p{Surrogate}$/u, '')}…`
    : line;
}

const UNKNOWN_OPERATION = new Set([404, 405, 501]);

/**
 * Returns what a failure means for an optional operation (docs/PLATFORM.md, Beyond the five operations): an operation
 * that the platform does not serve answers 404, 405 or 501 without saying that the file is missing, and one that this
 * token may not use 403. A sync leaves the decision that credentials are refused to the upserts.
 */
export function failureOfOptional(answer: Answer, failure: LookupFailure): OptionalFailure {
  if (UNKNOWN_OPERATION.has(answer.status) && errorTypeOf(answer.text) !== 'ResourceNotFound') {
    // Status and type are taken from the message, because there the secret was removed.
    const [said = ''] = failure.message.split(':');
    return { kind: 'not-served', message: `the platform does not serve this operation (${said})` };
  }
  // A token that is refused everywhere says nothing about this operation.
  if (failure.kind !== 'credentials' || failure.scope === 'all') return failure;
  const message = `the token of platform.token may not do this: ${failure.message}`;
  return { kind: 'not-served', message, isByToken: true };
}
