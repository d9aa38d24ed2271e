import type { PlatformFailure } from '../domain/failure.ts';
import { retryAfterMs, type ResponseHeaders } from './rate-limit.ts';

/** A response that was read whole, the body at most `LARGEST_ANSWER_BYTES`. */
export interface Answer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly text: string;
  /** The proxy that may have given it in the platform's place, in words. */
  readonly proxy?: string;
  /** The address that was asked, without its path, and the field of the configuration that it is from. */
  readonly asked?: { readonly origin: string; readonly field: string };
}

/** Longest part of a platform's own words that goes into a message. */
const LONGEST_QUOTE = 300;

/**
 * The failure that an answer of the platform stands for (interface.md, Errors; platform-facts.md, Errors).
 *
 * Both shapes of error bodies are understood, and one that is no JSON at all.
 *
 * @param notFound - what 404 means for this operation.
 * @param redact - takes secrets out of the platform's words, before they are cut to length.
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
  if (status === 403 || (status === 404 && notFound === 'bot-unknown'))
    return { kind: 'credentials', scope: 'bot', message };
  if (isTransient(status, type)) return transient(answer, nowMs, message);
  if (status >= 300 && status < 400) return redirected(answer);
  if (status >= 200 && status < 300)
    return { kind: 'transient', message: `${status} with an unexpected answer${pageIn(answer)}` };
  return { kind: 'refused', message };
}

/** Where a page for people came in place of an answer: another server, or a network that wants a login. */
function pageIn({ text, asked }: Answer): string {
  return asked === undefined || !/^\s*</u.test(text)
    ? ''
    : `, a page of HTML from ${asked.origin}; check ${asked.field} and the network`;
}

function messageOf({ status, proxy }: Answer, type: string | null, said: string | null): string {
  // The platform's own refusals say what they are.
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

/** The type of error that an answer names; `null`: none. */
export function errorTypeOf(text: string): string | null {
  return readError(text, (words) => words).type;
}

/** Redirects are never followed: they would carry the credentials elsewhere. */
export function redirected({ status, headers }: Pick<Answer, 'status' | 'headers'>): PlatformFailure {
  const location = headers['location'];
  const host =
    typeof location === 'string' && URL.canParse(location) ? ` to ${new URL(location).origin}` : '';
  return {
    kind: 'transient',
    message: `${status}: redirected${host}, which is not followed; check the address in the config`,
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
 * A platform's words, on one line, of bearable length, well-formed and without signed addresses; `null`: it said nothing. What is
 * not well-formed could not be passed on in every place where it is told, such as a database.
 */
export function quote(said: unknown): string | null {
  if (typeof said !== 'string' || said === '') return null;

  const line = said
    .replace(/[\u0000-\u001f\u007f-\u009f]+/gu, ' ')
    .replace(/\p{Surrogate}/gu, '\ufffd')
    // A signed address is a secret: what stands after its "?" or before its "@" is not repeated.
    .replace(/(\bhttps?:\/\/)(?:[^\s/?#"'<>]*@)?([^\s?"'<>]*)(?:\?[^\s"'<>]*)?/giu, '$1$2');
  // No character is cut in half.
  return line.length > LONGEST_QUOTE
    ? `${line.slice(0, LONGEST_QUOTE).replace(/\p{Surrogate}$/u, '')}…`
    : line;
}
